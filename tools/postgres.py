"""A PostgreSQL server for tests: its own data folder and port, gone when it is stopped.

The programs are those of the system, or else those in the PyPI package pgserver.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from penstock.testing.port import free_port

_READY_S = 60.0
_STOP_S = 30.0
_SYSTEM = Path("/usr/lib/postgresql")


def programs() -> Path | None:
    """The folder with `postgres` and `initdb`."""
    places = [each / "bin" for each in sorted(_SYSTEM.glob("*"), reverse=True)]
    on_path = shutil.which("initdb")
    if on_path is not None:
        places.append(Path(on_path).resolve().parent)
    package = importlib.util.find_spec("pgserver")
    if package is not None and package.origin is not None:
        places.append(Path(package.origin).parent / "pginstall" / "bin")
    whole = (each for each in places if (each / "postgres").exists() and (each / "initdb").exists())
    return next(whole, None)


def missing_prerequisite() -> str | None:
    if programs() is not None:
        return None
    return "PostgreSQL is not on this machine: install postgresql, or pip install pgserver"


class Postgres:
    def __init__(self, *, durable: bool = False, logical: bool = False) -> None:
        """`durable`: commits reach the disk, as they should outside of tests; `logical`: its log
        has what logical replication needs."""
        self._fsync = "on" if durable else "off"
        self._wal_level = "logical" if logical else "replica"
        found = programs()
        if found is None:
            raise RuntimeError(missing_prerequisite())
        self._programs = found
        self._folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://penstock@127.0.0.1:{self._port}/postgres"

    def __enter__(self) -> Postgres:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        user = _other_user()
        if user:
            shutil.chown(self._folder, user["user"], user["group"])
        data = self._folder / "data"
        initdb = [str(self._programs / "initdb"), "-D", str(data), "-U", "penstock", "-A", "trust"]
        subprocess.run(
            [*initdb, "--no-sync", "-E", "UTF8"], check=True, capture_output=True, **user
        )
        self.resume()

    def resume(self) -> None:
        """Run the server, on the data that it has."""
        data = self._folder / "data"
        server = [str(self._programs / "postgres"), "-D", str(data), "-k", str(self._folder)]
        listen = ["-h", "127.0.0.1", "-p", str(self._port), "-c", f"fsync={self._fsync}"]
        listen += ["-c", f"wal_level={self._wal_level}"]
        with open(self._folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                [*server, *listen], stdout=log, stderr=log, **_other_user()
            )
        self._wait_ready()

    def _wait_ready(self) -> None:
        import psycopg

        deadline = time.monotonic() + _READY_S
        while True:
            try:
                psycopg.connect(self.url).close()
                return
            except psycopg.OperationalError:
                ended = self._process is None or self._process.poll() is not None
                if ended or time.monotonic() > deadline:
                    raise RuntimeError((self._folder / "log").read_text()[-2000:]) from None
                time.sleep(0.05)

    def stop(self) -> None:
        self.halt()
        shutil.rmtree(self._folder, ignore_errors=True)

    def halt(self) -> None:
        """End the server, and leave its data for `resume`."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            # Fast shutdown: connections are cut, nothing is waited for.
            process.send_signal(signal.SIGINT)
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _other_user() -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": [], "cwd": "/"}
    raise RuntimeError("PostgreSQL refuses to run as root, and there is no user nobody")
