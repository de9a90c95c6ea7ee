"""What the brokers did in the last days, read from the topic in which they write it down."""
