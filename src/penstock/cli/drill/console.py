"""What can be typed during a drill: what is done outside of Kafka, to services and their owners."""

from __future__ import annotations

import queue
import sys
import threading
from typing import Final

from penstock.cli.drill.drill import Drill
from penstock.cli.drill.incident import INCIDENTS

HELP: Final = """type here what is not done by commands:
  it is CAUSE          your diagnosis: {causes}
  repair NAME          wake up the owner of a service, a producer, or of what they all call:
                       {names}
  members GROUP N      run so many members of a service
  restart GROUP|all    restart the members of a service, or all
  done                 end the drill"""
_NAMES: Final = ("billing", "mailer", "analytics", "retries", "import", "downstream", "quota")


def help_text() -> str:
    return HELP.format(causes=", ".join(INCIDENTS), names=", ".join(_NAMES))


class Console:
    """Lines of stdin, as they come."""

    def __init__(self, drill: Drill) -> None:
        self._drill = drill
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.is_done = False

    def listen(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            self._lines.put(line)

    def answers(self) -> list[str]:
        """To what was typed since."""
        found = []
        while not self._lines.empty():
            words = self._lines.get().split()
            if words:
                found.append(self.act(words))
        return found

    def act(self, words: list[str]) -> str:
        drill = self._drill
        drill.note(*words)
        match words:
            case ["done"]:
                self.is_done = True
                return "the drill ends"
            case ["it", "is", cause] if cause in INCIDENTS:
                drill.named = cause
                return "noted"
            case ["repair", name] if name in _NAMES:
                return self._repair(name)
            case ["members", group, count] if group in drill.stage.services and count.isdecimal():
                return self._members(group, min(int(count), 10))
            case ["restart", name] if name == "all" or name in drill.stage.services:
                return self._restart(name)
        return help_text()

    def _repair(self, name: str) -> str:
        incident = self._drill.incident
        if name != incident.culprit:
            return f"the owner of {name} looks, and finds nothing that is wrong there"
        incident.repair(self._drill.run)
        return f"the owner of {name} has found something, and repaired it"

    def _members(self, group: str, count: int) -> str:
        service = self._drill.stage.services[group]
        if count < len(service.members):
            self._drill.stage.end_members(service, keep=count)
        else:
            self._drill.stage.add_members(service, count - len(service.members))
        return f"{service.name} has {len(service.members)} members"

    def _restart(self, name: str) -> str:
        services = self._drill.stage.services
        for each in services.values() if name == "all" else [services[name]]:
            count = len(each.members)
            self._drill.stage.end_members(each)
            self._drill.stage.add_members(each, count)
        return f"restarted {name}"
