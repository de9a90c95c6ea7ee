"""The `penstock` command: everything but `start` speaks only the Kafka protocol."""
