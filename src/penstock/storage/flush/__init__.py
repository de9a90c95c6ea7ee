"""Group commit: what became dirty together is synced together."""
