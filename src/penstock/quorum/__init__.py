"""The metadata log, its snapshots, and who leads it."""
