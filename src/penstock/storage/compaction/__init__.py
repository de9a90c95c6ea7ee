"""Compaction: of the records of a key, the last one is kept. Reads and rewrites whole segments."""
