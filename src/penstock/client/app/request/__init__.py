"""Request and reply over topics: one who asks and waits, one whose handler answers."""
