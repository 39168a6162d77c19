"""The static pipeline: the files of a plan, judged and made into one report."""
