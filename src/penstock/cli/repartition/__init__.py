"""Another number of partitions for a topic, by a new topic, with order per key and a way back."""
