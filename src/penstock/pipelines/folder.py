"""A folder on any file system that Spark reaches, named by a URI: the few calls that are needed.

Everything that is read or written beside Spark's own files goes through here, with the settings
that Spark itself writes checkpoints with. What cannot be done there is a `RunError` of one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from penstock.pipelines.error import RunError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def has_scheme(location: str) -> bool:
    return _SCHEME.match(location) is not None


def as_uri(location: str | Path) -> str:
    """As it is where it names its file system; a plain path is one of this machine.

    Nothing is escaped: Hadoop takes the path of a URI as it is written.
    """
    text = str(location)
    if has_scheme(text):
        return text.rstrip("/")
    return f"file://{Path(text).absolute()}"


class Folder:
    def __init__(self, spark: SparkSession, location: str) -> None:
        jvm = cast(Any, spark)._jvm
        self._new_path = jvm.org.apache.hadoop.fs.Path
        self._io = jvm.org.apache.commons.io.IOUtils
        with _told("opened", location):
            self._root = self._new_path(location)
            settings = cast(Any, spark)._jsparkSession.sessionState().newHadoopConf()
            self._files = self._root.getFileSystem(settings)

    def path(self, name: str) -> str:
        return str(self._at(name).toString())

    def names(self, name: str = "") -> list[str]:
        """What it holds; nothing if it is not there."""
        where = self._at(name)
        with _told("listed", where):
            if not self._files.exists(where):
                return []
            return [str(each.getPath().getName()) for each in self._files.listStatus(where)]

    def numbers(self, name: str) -> list[int]:
        """Names that are numbers, as Spark's logs of batches have them."""
        return [int(each) for each in self.names(name) if each.isdecimal()]

    def files(self, name: str) -> list[int]:
        """Bytes of each data file; what readers pass over is not counted."""
        with _told("listed", self._at(name)):
            listed = self._files.listStatus(self._at(name))
            data = (each for each in listed if each.getPath().getName()[0] not in "._")
            return [int(each.getLen()) for each in data]

    def exists(self, name: str = "") -> bool:
        with _told("read", self._at(name)):
            return bool(self._files.exists(self._at(name)))

    def read(self, name: str) -> bytes:
        with _told("read", self._at(name)):
            stream = self._files.open(self._at(name))
            try:
                return bytes(self._io.toByteArray(stream))
            finally:
                stream.close()

    def write(self, name: str, content: bytes) -> None:
        """Whole or not at all; where it replaces a file, a crash may leave neither."""
        parent, _, base = name.rpartition("/")
        draft = f"{parent}/.{base}.tmp" if parent else f".{base}.tmp"
        with _told("written", self._at(name)):
            self._files.mkdirs(self._at(draft).getParent())
            stream = self._files.create(self._at(draft), True)
            stream.write(content)
            stream.close()
        self.delete(name)
        self.rename(draft, name)

    def make(self, name: str = "") -> None:
        with _told("made", self._at(name)):
            self._files.mkdirs(self._at(name))

    def rename(self, name: str, new_name: str) -> None:
        with _told("renamed", self._at(name)):
            self._files.mkdirs(self._at(new_name).getParent())
            if not self._files.rename(self._at(name), self._at(new_name)):
                raise OSError(f"it was refused for {new_name}")

    def delete(self, name: str) -> None:
        with _told("deleted", self._at(name)):
            self._files.delete(self._at(name), True)

    def _at(self, name: str) -> Any:
        return self._new_path(self._root, name) if name else self._root


class Document:
    """A small JSON object that is replaced as a whole: there is always one to be read.

    Each version is a file of its own, because not every file system replaces a file in one step.
    """

    def __init__(self, folder: Folder, name: str) -> None:
        self._folder = folder
        self._stem = name

    def read(self) -> dict[str, Any] | None:
        versions = self._versions()
        if not versions:
            return None
        return cast(dict[str, Any], json.loads(self._folder.read(self._name(versions[-1]))))

    def write(self, content: dict[str, Any]) -> None:
        old = self._versions()
        version = old[-1] + 1 if old else 0
        self._folder.write(self._name(version), json.dumps(content).encode())
        for each in old:
            self._folder.delete(self._name(each))

    def _versions(self) -> list[int]:
        pattern = re.compile(rf"{re.escape(self._stem)}(?:\.(\d+))?\.json")
        found = (pattern.fullmatch(each) for each in self._folder.names())
        return sorted(int(each[1] or 0) for each in found if each)

    def _name(self, version: int) -> str:
        return f"{self._stem}.{version}.json" if version else f"{self._stem}.json"


@contextmanager
def _told(what: str, where: Any) -> Iterator[None]:
    from py4j.protocol import Py4JError, Py4JJavaError

    try:
        yield
    except (Py4JError, OSError) as error:
        cause = error.java_exception.toString() if isinstance(error, Py4JJavaError) else error
        said = str(cause).strip().partition("\n")[0]
        raise RunError(f"{where} cannot be {what}: {said}") from error
