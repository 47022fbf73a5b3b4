count(//item[location = "Albania"]/..)
