"""An Elasticsearch of its own process, the one that Elastic publishes for integration tests."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from penstock.testing.port import free_port
from tests.pipelines.maven import ALONE, fetched
from tools.apache_kafka import require_java

VERSION = "7.17.9"
SERVER = (("org.elasticsearch.distribution.integ-test-zip", "elasticsearch", VERSION),)
START_S = 180.0
STOP_S = 30.0


class SearchServer:
    def __init__(self) -> None:
        (archive,) = fetched("elasticsearch", SERVER, kind="zip", without=ALONE).glob("*.zip")
        self._folder = Path(tempfile.mkdtemp(prefix="elasticsearch-"))
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(self._folder)
        self._home = self._folder / f"elasticsearch-{VERSION}"
        for program in (self._home / "bin").iterdir():
            program.chmod(0o755)
        self.url = f"http://127.0.0.1:{free_port()}"
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        settings = {
            "discovery.type": "single-node",
            "network.host": "127.0.0.1",
            "http.port": self.url.rpartition(":")[2],
            "transport.port": free_port(),
            "xpack.security.enabled": "false",
        }
        command = [str(self._home / "bin" / "elasticsearch")]
        command += [f"-E{name}={value}" for name, value in settings.items()]
        java = Path(require_java()).resolve().parents[1]
        brief = "-Xms256m -Xmx256m -XX:TieredStopAtLevel=1"
        environment = os.environ | {"ES_JAVA_HOME": str(java), "ES_JAVA_OPTS": brief}
        with open(self._folder / "said.log", "wb") as log:
            return subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, **self._somebody()
            )

    def _somebody(self) -> dict[str, Any]:
        """It refuses to run as root."""
        if os.geteuid() != 0:
            return {}
        nobody = pwd.getpwnam("nobody")
        for each in (self._folder, *self._folder.rglob("*")):
            os.chown(each, nobody.pw_uid, nobody.pw_gid)
        return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}

    def wait_ready(self) -> None:
        deadline = time.monotonic() + START_S
        while True:
            try:
                urllib.request.urlopen(self.url).close()
                return
            except OSError:
                said = (self._folder / "said.log").read_text(errors="replace")[-2000:]
                assert self._process.poll() is None and time.monotonic() < deadline, said
                time.sleep(0.2)

    def documents(self, index: str) -> dict[str, dict[str, Any]]:
        """By their ids."""
        urllib.request.urlopen(f"{self.url}/{index}/_refresh", data=b"").close()
        with urllib.request.urlopen(f"{self.url}/{index}/_search?size=1000") as answer:
            hits = json.load(answer)["hits"]["hits"]
        return {each["_id"]: each["_source"] for each in hits}

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def search_server() -> Iterator[SearchServer]:
    server = SearchServer()
    try:
        server.wait_ready()
        yield server
    finally:
        server.stop()
