"""The recommendation for a target, from its verdicts, findings and attempts."""
