"""What is run: attempts of what lint has found, and of data loaders."""
