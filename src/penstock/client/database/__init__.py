"""Databases of applications: statements in a user's own transaction, and connections of our own."""

from penstock.client.database.creation import LOCKS, create_once
from penstock.client.database.own import OwnDatabase, open_database
from penstock.client.database.statement import DatabaseUseError, Statements, statements_of

__all__ = [
    "LOCKS",
    "DatabaseUseError",
    "OwnDatabase",
    "Statements",
    "create_once",
    "open_database",
    "statements_of",
]
