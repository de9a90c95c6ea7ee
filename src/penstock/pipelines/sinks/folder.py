"""A folder on any file system that Spark reaches: the few calls that sinks need, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Folder:
    def __init__(self, spark: SparkSession, location: str) -> None:
        jvm = cast(Any, spark)._jvm
        self._new_path = jvm.org.apache.hadoop.fs.Path
        self._io = jvm.org.apache.commons.io.IOUtils
        self._root = self._new_path(location)
        self._files = self._root.getFileSystem(cast(Any, spark)._jsc.hadoopConfiguration())

    def path(self, name: str) -> str:
        return str(self._at(name).toString())

    def names(self, name: str = "") -> list[str]:
        """What it holds; nothing if it is not there."""
        where = self._at(name)
        if not self._files.exists(where):
            return []
        return [str(each.getPath().getName()) for each in self._files.listStatus(where)]

    def files(self, name: str) -> list[int]:
        """Bytes of each data file; what readers pass over is not counted."""
        listed = self._files.listStatus(self._at(name))
        data = (each for each in listed if each.getPath().getName()[0] not in "._")
        return [int(each.getLen()) for each in data]

    def exists(self, name: str) -> bool:
        return bool(self._files.exists(self._at(name)))

    def read(self, name: str) -> bytes:
        stream = self._files.open(self._at(name))
        try:
            return bytes(self._io.toByteArray(stream))
        finally:
            stream.close()

    def write(self, name: str, content: bytes) -> None:
        """Whole or not at all."""
        parent, _, base = name.rpartition("/")
        draft = f"{parent}/.{base}.tmp" if parent else f".{base}.tmp"
        self._files.mkdirs(self._at(draft).getParent())
        stream = self._files.create(self._at(draft), True)
        stream.write(content)
        stream.close()
        self.delete(name)
        self.rename(draft, name)

    def rename(self, name: str, new_name: str) -> None:
        self._files.mkdirs(self._at(new_name).getParent())
        if not self._files.rename(self._at(name), self._at(new_name)):
            raise OSError(f"could not rename {self.path(name)} to {new_name}")

    def delete(self, name: str) -> None:
        self._files.delete(self._at(name), True)

    def _at(self, name: str) -> Any:
        return self._new_path(self._root, name) if name else self._root
