"""Committed offsets: kept, fetched, expired, and held back while a transaction is open."""
