"""Opening a log, and what has to be done to it first after a crash."""
