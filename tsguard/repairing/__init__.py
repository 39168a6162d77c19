"""Verified repair: a copy of the code is fixed until torch scripts it, with eager unchanged."""
