"""The language server: what an editor shows of a report, as the code is written."""
