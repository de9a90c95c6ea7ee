"""Small files of a data directory that say how far things had come."""
