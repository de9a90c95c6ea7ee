"""The streams group protocol (KIP-1071): members tell the topology of their application, the
coordinator sees to its topics and assigns its tasks."""
