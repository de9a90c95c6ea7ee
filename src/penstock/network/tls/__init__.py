"""TLS between a socket and the connection that reads and writes it.

Knows sockets, contexts and time limits. Where keys come from, and who a certificate is, are others'
business: they are given as functions.
"""
