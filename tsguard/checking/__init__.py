"""The dynamic pipeline: attempts of the targets that lint has found, and measurements of data loaders."""
