"""Pipelines that ship with Penstock, each in a package of its own."""
