//item[location = "Albania"][payment = "Cash"]/location
