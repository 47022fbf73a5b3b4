"""Types at run time: what matches, what is converted, how it is called in messages."""
