"""What the node answers: one small module per API, and the router in front of them."""
