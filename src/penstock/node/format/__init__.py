"""Formatting the directories of a node before its first start, and looking at what they are."""
