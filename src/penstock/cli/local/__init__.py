"""A cluster on this machine: several nodes, each a process, under one command."""
