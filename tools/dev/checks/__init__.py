"""Checks that read the tree. Each is a function over texts, tested on small snippets beside it."""
