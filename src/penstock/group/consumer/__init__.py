"""The consumer group protocol (KIP-848): members heartbeat, the coordinator assigns, and each
member moves to its new assignment by itself."""
