"""The pytest plugin: models are checked like other code."""
