//*[location = "Albania"]/quantity
