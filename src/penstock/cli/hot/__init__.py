"""Hot spots: which broker, partition, key or client takes more than its part, and the remedy."""
