"""`penstock security`: what a secure cluster on this machine needs, in one command."""
