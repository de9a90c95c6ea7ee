"""A streaming platform that speaks Apache Kafka's protocol, in Python."""
