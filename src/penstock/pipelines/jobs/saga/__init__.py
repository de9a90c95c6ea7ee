"""A pipeline beside the order saga."""
