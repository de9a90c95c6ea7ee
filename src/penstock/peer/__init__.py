"""Calls to other nodes over Kafka's protocol.

`Peer` is one connection to one address, `Peers` keeps them by node id. What is asked, of whom and
how often is others' business.
"""
