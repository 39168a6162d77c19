"""Repair that torch has confirmed: a copy of the code is mended until torch scripts it, eager unchanged."""
