"""An S3 store of its own process (S3Proxy, objects in memory), and Spark's way to it.

Both come from Maven, into the checkout's cache. Of Amazon's library only the parts that Hadoop's
file system needs: the bundle that it asks for is forty times as large.
"""

from __future__ import annotations

import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pyspark

from penstock.testing.port import free_port
from tests.pipelines.maven import ALONE, fetched
from tools.apache_kafka import BRIEF_JVM, require_java

AMAZON = "2.35.4"
SERVER = (("org.gaul", "s3proxy", "2.9.0"),)
CLIENT = (
    ("software.amazon.awssdk", "s3-transfer-manager", AMAZON),
    ("software.amazon.awssdk", "sts", AMAZON),
    ("software.amazon.awssdk", "apache-client", AMAZON),
    ("software.amazon.s3.analyticsaccelerator", "analyticsaccelerator-s3", "1.3.0"),
)
SPARKS_OWN = ("org.slf4j", "io.netty")
"""What Spark brings itself, in versions of its own."""
START_S = 60.0
_SILENT = '<configuration><root level="OFF"/></configuration>\n'


class ObjectStore:
    def __init__(self, folder: Path) -> None:
        self._port = free_port()
        folder.mkdir()
        (folder / "logback.xml").write_text(_SILENT)
        settings = {
            "s3proxy.authorization": "none",
            "s3proxy.endpoint": self.address,
            "jclouds.provider": "transient",
            # Clients name their checksums in headers of their own.
            "s3proxy.ignore-unknown-headers": "true",
        }
        given = folder / "s3proxy.conf"
        given.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        jars = fetched("s3proxy", SERVER)
        command = [require_java(), *BRIEF_JVM, f"-Dlogback.configurationFile={folder}/logback.xml"]
        command += ["-cp", f"{jars}/*", "org.gaul.s3proxy.Main", "--properties", str(given)]
        with open(folder / "s3proxy.log", "wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def make_bucket(self, name: str) -> None:
        """When it answers."""
        deadline = time.monotonic() + START_S
        request = urllib.request.Request(f"{self.address}/{name}", method="PUT")
        while True:
            try:
                urllib.request.urlopen(request).close()
                return
            except urllib.error.URLError:
                assert self._process.poll() is None and time.monotonic() < deadline
                time.sleep(0.1)

    def names(self, bucket: str, prefix: str) -> list[str]:
        """The first thousand objects."""
        asked = urllib.parse.urlencode({"list-type": 2, "prefix": prefix})
        with urllib.request.urlopen(f"{self.address}/{bucket}?{asked}") as answer:
            found = ElementTree.fromstring(answer.read()).findall(".//{*}Contents/{*}Key")
        return [each.text or "" for each in found]

    def read(self, bucket: str, name: str) -> bytes:
        with urllib.request.urlopen(f"{self.address}/{bucket}/{name}") as answer:
            content: bytes = answer.read()
        return content

    def spark_options(self) -> list[str]:
        """Of `penstock pipeline run`, so that Spark finds it as s3a://."""
        settings = {
            "endpoint": self.address,
            "endpoint.region": "us-east-1",
            "path.style.access": "true",
            "access.key": "any",
            "secret.key": "any",
        }
        options = {f"spark.hadoop.fs.s3a.{key}": value for key, value in settings.items()}
        for process in ("driver", "executor"):
            options[f"spark.{process}.extraClassPath"] = f"{_hadoop()}/*:{_amazon()}/*"
        return [part for key, value in options.items() for part in ("--set", f"{key}={value}")]

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


@contextmanager
def object_store(folder: Path) -> Iterator[ObjectStore]:
    store = ObjectStore(folder)
    try:
        yield store
    finally:
        store.stop()


def _amazon() -> Path:
    return fetched("amazon", CLIENT, without=SPARKS_OWN)


def _hadoop() -> Path:
    """S3A of the Hadoop that this Spark brings, without what it would bring along."""
    (client,) = (Path(pyspark.__file__).parent / "jars").glob("hadoop-client-api-*.jar")
    version = client.stem.removeprefix("hadoop-client-api-")
    jar = ("org.apache.hadoop", "hadoop-aws", version)
    return fetched(f"hadoop-{version}", [jar], without=ALONE)
