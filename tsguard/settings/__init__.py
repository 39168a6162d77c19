"""What is asked for: settings, rules, releases, and the files and targets to judge."""
