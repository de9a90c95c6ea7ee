"""Something that one request has at a time; the others wait for it in their order.

Who waits has nothing but the bytes of its request: it is decoded when its turn has come. So what
large requests cost does not add up, however many there are.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable


class Turn:
    __slots__ = ("_call_soon", "_is_calling", "_waiting", "taken")

    def __init__(self, call_soon: Callable[[Callable[[], None]], object]) -> None:
        self._call_soon = call_soon
        self._waiting: OrderedDict[object, Callable[[], None]] = OrderedDict()
        self._is_calling = False
        self.taken = False

    @property
    def is_free(self) -> bool:
        """For whoever asks now: nobody has it, and nobody else was there before."""
        return not self.taken and (self._is_calling or not self._waiting)

    def take(self) -> None:
        assert not self.taken
        self.taken = True

    def give_back(self) -> None:
        self.taken = False
        self._call_soon(self._call_next)

    def wait(self, who: object, resume: Callable[[], None]) -> None:
        """`resume` asks again, at once; it is not called for one that is forgotten meanwhile."""
        self._waiting[who] = resume
        self._call_soon(self._call_next)

    def forget(self, who: object) -> None:
        self._waiting.pop(who, None)

    def _call_next(self) -> None:
        """One after the other: the one that is called may find that it needs no turn after all."""
        if self.taken or not self._waiting:
            return
        _, resume = self._waiting.popitem(last=False)
        self._is_calling = True
        try:
            resume()
        finally:
            self._is_calling = False
        if not self.taken and self._waiting:
            self._call_soon(self._call_next)
