"""Something that one request has at a time; the others wait for it in their order.

Who waits has nothing but the bytes of its request: it is decoded when its turn has come. So what
large requests cost does not add up, however many there are.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable


class Turn:
    """`may_begin` says whether there is room for what comes of it; once there is room again,
    somebody has to call `look`."""

    __slots__ = ("_call_soon", "_is_calling", "_may_begin", "_waiting", "taken")

    def __init__(
        self,
        call_soon: Callable[[Callable[[], None]], object],
        may_begin: Callable[[], bool] = lambda: True,
    ) -> None:
        self._call_soon = call_soon
        self._may_begin = may_begin
        self._waiting: OrderedDict[object, Callable[[], None]] = OrderedDict()
        self._is_calling = False
        self.taken = False

    @property
    def is_free(self) -> bool:
        """For whoever asks now: nobody has it, and nobody else was there before."""
        if self.taken or (self._waiting and not self._is_calling):
            return False
        return self._may_begin()

    @property
    def is_waited_for(self) -> bool:
        return bool(self._waiting)

    def take(self) -> None:
        assert not self.taken
        self.taken = True

    def give_back(self) -> None:
        self.taken = False
        self._call_soon(self.look)

    def wait(self, who: object, resume: Callable[[], None]) -> None:
        """`resume` asks again, at once; it is not called for one that is forgotten meanwhile."""
        self._waiting[who] = resume
        self._call_soon(self.look)

    def forget(self, who: object) -> None:
        self._waiting.pop(who, None)

    def look(self) -> None:
        """Whether the next one may begin. It may find that it needs no turn after all."""
        if self.taken or not self._waiting or not self._may_begin():
            return
        _, resume = self._waiting.popitem(last=False)
        self._is_calling = True
        try:
            resume()
        finally:
            self._is_calling = False
        if not self.taken and self._waiting:
            self._call_soon(self.look)
