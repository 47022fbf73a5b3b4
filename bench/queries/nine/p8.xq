//inproceedings[author = "John Smith"]/title
