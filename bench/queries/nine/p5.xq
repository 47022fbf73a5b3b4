count(//item[location = "Albania"]/ancestor::europe)
