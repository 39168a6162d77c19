"""Attempts: the part that runs torch, in worker processes.

This package can be imported without torch; what needs torch lies in ``worker`` and is
imported by the worker processes alone.
"""
