"""The static pipeline: the files of a plan, analysed and merged into one report."""
