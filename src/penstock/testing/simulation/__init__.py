"""Whole nodes in one process, in virtual time, from a seed: the same seed, the same run.

Time jumps to whatever comes next, the network is a table of pipes, the disk is in memory and loses
at a crash what was not synced. `SimulatedCluster` is the way in.
"""
