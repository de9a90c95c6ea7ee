"""Records of partitions that were left by a crash: which of them may be handled now.

They wait in their partition's backlog. A partition has one group of them under way at a time; where
one record is to be alone, no other of these partitions has any (`suspicion`).
"""

from __future__ import annotations

from itertools import islice

from penstock.client.app.assignment import Assignment
from penstock.client.app.lanes import Lanes
from penstock.client.app.part import Part, Work
from penstock.client.app.suspicion import Suspicion


class Careful:
    def __init__(self, assignment: Assignment, lanes: Lanes[Work], group: int) -> None:
        self._assignment = assignment
        self._lanes = lanes
        self._group = group

    @property
    def is_needed(self) -> bool:
        return any(each.suspicion is not None for each in self._assignment.parts.values())

    def passed(self, work: Work) -> None:
        """It was handled, and the process is still there."""
        work.is_careful = False
        part = work.part
        part.careful -= 1
        if not part.careful:
            part.in_hand = None
            if part.suspicion is not None:
                part.suspicion.passed()
        self.admit()

    def admit(self) -> None:
        """What may be handled goes to the lanes."""
        suspect: list[tuple[Part, Suspicion]] = []
        for part in self._assignment.parts.values():
            if part.suspicion is None:
                continue
            if not part.suspicion.is_over:
                suspect.append((part, part.suspicion))
            elif not part.careful:
                self._clear(part)
        waiting = [(part, suspicion) for part, suspicion in suspect if part.backlog]
        alone = [one for one in waiting if one[1].wants_alone(one[0].backlog[0].offset)]
        if alone:
            if not any(part.careful for part, _ in suspect):
                self._take(*alone[0])
            return
        for part, suspicion in waiting:
            if suspicion.has_room:
                self._take(part, suspicion)

    def _take(self, part: Part, suspicion: Suspicion) -> None:
        offsets = [each.offset for each in islice(part.backlog, self._group)]
        hand = part.in_hand = suspicion.take(offsets)
        last = offsets[0] if hand is None else hand.last
        while part.backlog and part.backlog[0].offset <= last:
            work = part.backlog.popleft()
            work.is_careful = True
            part.careful += 1
            self._lanes.add(work, part.shelf)

    def _clear(self, part: Part) -> None:
        part.suspicion = part.in_hand = None
        while part.backlog:
            self._lanes.add(part.backlog.popleft(), part.shelf)
