"""Settings: configuration, selected rules, torch releases, and the files and targets to check."""
