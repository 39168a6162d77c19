"""The pytest plugin, which tests models like other code."""
