"""Where changes of an answer are written, and in which form."""
