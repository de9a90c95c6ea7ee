"""Tokens of others: the keys they are signed with, and whether one is good."""
