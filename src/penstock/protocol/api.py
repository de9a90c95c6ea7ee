"""Which APIs exist, in which versions, and where their entities are.

The table is small and loaded at once; an API's message module is imported when first asked for.
"""

from __future__ import annotations

from importlib import import_module

from penstock.protocol.entity import Entity

API_VERSIONS_KEY = 18


class ApiSpec:
    __slots__ = (
        "_request_class",
        "_response_class",
        "advertised_min_version",
        "key",
        "latest_version_unstable",
        "max_version",
        "min_version",
        "module",
        "name",
        "request_flexible_from",
        "response_flexible_from",
    )

    def __init__(
        self,
        key: int,
        name: str,
        module: str,
        min_version: int,
        max_version: int,
        request_flexible_from: int | None,
        response_flexible_from: int | None,
        *,
        unstable: bool = False,
        advertised_min: int | None = None,
    ) -> None:
        self.key = key
        self.name = name
        self.module = module
        self.min_version = min_version
        self.max_version = max_version
        self.request_flexible_from = request_flexible_from
        self.response_flexible_from = response_flexible_from
        self.latest_version_unstable = unstable
        self.advertised_min_version = min_version if advertised_min is None else advertised_min
        self._request_class: type[Entity] | None = None
        self._response_class: type[Entity] | None = None

    def __repr__(self) -> str:
        return f"ApiSpec({self.key}, {self.name} {self.min_version}-{self.max_version})"

    @property
    def max_stable_version(self) -> int:
        return self.max_version - self.latest_version_unstable

    def supports(self, version: int) -> bool:
        return self.min_version <= version <= self.max_version

    def request_class(self) -> type[Entity]:
        if self._request_class is None:
            self._request_class = self._load("Request")
        return self._request_class

    def response_class(self) -> type[Entity]:
        if self._response_class is None:
            self._response_class = self._load("Response")
        return self._response_class

    def request_header_version(self, version: int) -> int:
        flexible = self.request_flexible_from
        return 2 if flexible is not None and version >= flexible else 1

    def response_header_version(self, version: int) -> int:
        """ApiVersions keeps header 0: a client reads it before it knows what the broker speaks."""
        if self.key == API_VERSIONS_KEY:
            return 0
        flexible = self.response_flexible_from
        return 1 if flexible is not None and version >= flexible else 0

    def _load(self, suffix: str) -> type[Entity]:
        module = import_module(f"penstock.protocol.messages.{self.module}")
        found: type[Entity] = getattr(module, self.name + suffix)
        return found
