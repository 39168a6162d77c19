"""One file judged: what is found of each of its targets, and what stopped the judging."""
