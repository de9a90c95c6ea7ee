"""What the node did in the last days, written down at intervals in a topic of the brokers."""
