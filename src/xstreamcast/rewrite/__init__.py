"""Takes a plan and gives an equal plan; deleting it changes no answer."""
