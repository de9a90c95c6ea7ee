"""Consumer groups as an operator sees them: read, ordered, explained and changed."""
