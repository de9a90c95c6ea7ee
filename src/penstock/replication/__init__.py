"""Partitions of this node: leadership, what is committed, and who waits for it."""
