count(//item[location = "Albania"]/ancestor::*//location)
