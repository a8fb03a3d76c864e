"""One module for each paper that reproduce.py reproduces, and one for what they share."""
