"""Hosts group and transaction machines over the partitions that this node leads.

Loads and unloads them, keeps their journals, and writes the markers that end transactions.
"""
