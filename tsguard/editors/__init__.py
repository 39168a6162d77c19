"""The language server: diagnostics, hover, fixes and lenses from a report."""
