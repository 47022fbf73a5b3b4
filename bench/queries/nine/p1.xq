//europe//item[location = "Albania"]/quantity
