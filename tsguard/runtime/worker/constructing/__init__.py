"""Constructor arguments found by trying: calls in the same file, names, what errors say."""
