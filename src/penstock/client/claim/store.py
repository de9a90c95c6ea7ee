"""Where large values are kept: a folder, or an object store (S3, Google's, Azure's).

Names have slashes. An object is whole when it can be read at all.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from penstock.client.error import DeclarationError, TransientError

_PARTIAL = ".partial"


class GoneError(Exception):
    """There is no object of this name."""


class Store(Protocol):
    """Raises TransientError where it cannot be reached."""

    def put(self, name: str, content: bytes) -> None: ...
    def get(self, name: str) -> bytes: ...
    def names(self) -> Iterator[str]: ...
    def delete(self, name: str) -> None: ...


def open_store(url: str, settings: Mapping[str, Any]) -> Store:
    scheme, _, rest = url.partition("://")
    if scheme == "file" and rest.startswith("/"):
        return FileStore(Path(rest))
    if scheme in ("s3", "gs", "az"):
        return ObjectStore(url, settings)
    raise DeclarationError(f"no such store: {url}: use file:///folder, s3://, gs:// or az://bucket")


class FileStore:
    """A folder that producers and consumers share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, name: str, content: bytes) -> None:
        path = self._folder / name
        partial = path.with_name(f"{uuid.uuid4().hex}{_PARTIAL}")
        with _reached(str(self._folder)):
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(partial, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)

    def get(self, name: str) -> bytes:
        with _reached(str(self._folder)):
            try:
                return (self._folder / name).read_bytes()
            except FileNotFoundError:
                raise GoneError(name) from None

    def names(self) -> Iterator[str]:
        with _reached(str(self._folder)):
            for path in sorted(self._folder.glob("*/*/*")):
                if path.suffix != _PARTIAL:
                    yield str(path.relative_to(self._folder))

    def delete(self, name: str) -> None:
        with _reached(str(self._folder)):
            (self._folder / name).unlink(missing_ok=True)


@contextmanager
def _reached(where: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise TransientError(f"{where}: {error}") from error


class ObjectStore:
    """By obstore, which comes with the extra `objects`; its settings are those of its stores."""

    def __init__(self, url: str, settings: Mapping[str, Any]) -> None:
        try:
            import obstore
        except ImportError:
            raise DeclarationError(
                f"{url} needs the extra `objects`: pip install 'penstock[objects]'"
            ) from None
        self._url = url
        self._obstore: Any = obstore
        try:
            self._store: Any = obstore.store.from_url(url, **settings)
        except (obstore.exceptions.BaseError, TypeError, ValueError) as error:
            raise DeclarationError(f"{url}: {str(error).splitlines()[0]}") from error

    def put(self, name: str, content: bytes) -> None:
        with self._reached():
            self._obstore.put(self._store, name, content)

    def get(self, name: str) -> bytes:
        with self._reached():
            return bytes(self._obstore.get(self._store, name).bytes())

    def names(self) -> Iterator[str]:
        with self._reached():
            for chunk in self._obstore.list(self._store):
                for each in chunk:
                    yield each["path"]

    def delete(self, name: str) -> None:
        with self._reached():
            self._obstore.delete(self._store, name)

    @contextmanager
    def _reached(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise GoneError(self._url) from None
        except self._obstore.exceptions.BaseError as error:
            said = " ".join(str(error).split())[:300]
            raise TransientError(f"{self._url}: {said}") from error
