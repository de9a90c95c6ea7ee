"""What clients may take of a node: whose quota it is, how much was used, how long to wait."""
