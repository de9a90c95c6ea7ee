"""Sockets: accepting connections, cutting the byte stream into frames, sending replies in order.

Knows frames only: what a frame means is the business of the `serve` function it is given.
"""
