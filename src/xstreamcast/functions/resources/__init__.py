"""What is found by address: documents, texts, modules, the environment."""
