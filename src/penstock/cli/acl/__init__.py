"""Access control entries from the command line: `penstock acls` and `penstock roles`."""
