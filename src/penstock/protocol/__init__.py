"""Kafka's wire protocol: generated entities, their codecs and frames. Pure: bytes in, bytes out.

Importing the package loads no message module; each is imported with the API that is used.
"""
