"""What a task of a history query does with its part of the input: it reads it and answers."""
