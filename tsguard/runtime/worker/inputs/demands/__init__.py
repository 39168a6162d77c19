"""Inputs derived from what the code demands of them: it runs once on stand-ins whose sizes are still open."""
