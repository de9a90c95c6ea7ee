"""Faust and Quix Streams reading the same topic, each in a Python of its own.

PYTHON bench/client/others.py NAME SPEC: their dependencies do not go together with ours, so this
file imports nothing else of the project. SPEC is JSON: servers, topic, group, records, and
`failing`, the number of a record that the handler raises for. Speed is printed as in `work`.
Failing, it prints each record's number as it is handled, until it is ended from outside.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any


def say(*what: object) -> None:
    """Faust takes `print` for itself."""
    os.write(1, (" ".join(map(str, what)) + "\n").encode())


class Handler:
    def __init__(self, spec: dict[str, Any]) -> None:
        self._left = spec["records"]
        self._failing = spec.get("failing")
        self._began = self._worked = 0.0

    def __call__(self, value: dict[str, Any]) -> None:
        if self._failing is not None:
            say(value["id"])
            if value["id"] == self._failing:
                raise OSError("the database is away")
            return
        if self._began == 0.0:
            self._began, self._worked = time.perf_counter(), time.process_time()
        self._left -= 1
        if self._left == 0:
            passed_s = time.perf_counter() - self._began
            say(passed_s, time.process_time() - self._worked)
            os._exit(0)


def faust(spec: dict[str, Any], handle: Handler) -> None:
    import faust as library  # type: ignore[import-not-found]

    app = library.App(
        spec["group"],
        broker=f"kafka://{spec['servers']}",
        value_serializer="json",
        consumer_auto_offset_reset="earliest",
        topic_partitions=3,
        web_enabled=False,
        datadir=spec["folder"],
    )
    topic = app.topic(spec["topic"])

    @app.agent(topic)  # type: ignore[untyped-decorator]
    async def work(stream: Any) -> None:
        async for value in stream:
            handle(value)

    library.Worker(app, loglevel="error").execute_from_commandline()


def quix(spec: dict[str, Any], handle: Handler) -> None:
    from quixstreams import Application  # type: ignore[import-not-found]

    app = Application(
        broker_address=spec["servers"],
        consumer_group=spec["group"],
        auto_offset_reset="earliest",
        state_dir=spec["folder"],
        loglevel="ERROR",
    )
    stream = app.dataframe(app.topic(spec["topic"], value_deserializer="json"))
    stream.update(handle)
    app.run()


if __name__ == "__main__":
    given = json.loads(sys.argv[2])
    {"faust": faust, "quix": quix}[sys.argv[1]](given, Handler(given))
