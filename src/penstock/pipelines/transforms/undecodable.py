"""Why a value is not what it is declared to be: the classes that dead letters name as the error."""

from __future__ import annotations


class Undecodable(ValueError):
    pass


class NotJson(Undecodable):
    pass


class WrongType(Undecodable):
    pass


class MissingField(Undecodable):
    pass


class NotAvro(Undecodable):
    pass


class NotProtobuf(Undecodable):
    pass


class NotText(Undecodable):
    pass
