"""The metrics that a broker declares, read from its own page of them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.error import URLError
from urllib.request import Request, urlopen

from penstock.cli.failure import Failure

TIMEOUT_S: Final = 10.0
_DECLARED: Final = re.compile(r"^# (HELP|TYPE) (\S+) (.*)$", re.MULTILINE)
PREFIX: Final = "penstock_"


class Family(NamedTuple):
    name: str
    """As samples are called; of a counter with `_total`."""
    kind: str
    text: str


def read_page(address: str, token: str | None = None) -> str:
    url = address if "://" in address else f"http://{address}"
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        request = Request(f"{url.rstrip('/')}/metrics", headers=headers)
        with urlopen(request, timeout=TIMEOUT_S) as answer:
            return str(answer.read().decode())
    except (URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise Failure(
            f"no metrics at {address}: {reason}; a broker serves them with `penstock start "
            "--metrics HOST:PORT`"
        ) from error


def declared(page: str) -> list[Family]:
    """Those that are ours, in their order on the page; of groups also while there is none yet."""
    from penstock.node.lag.text import FAMILIES

    texts: dict[str, str] = {}
    kinds: dict[str, str] = {}
    for word, name, said in _DECLARED.findall(page):
        (texts if word == "HELP" else kinds)[name] = said
    for each in FAMILIES:
        texts.setdefault(each.name, each.text)
        kinds.setdefault(each.name, each.kind)
    return [
        Family(name, kind, texts.get(name, ""))
        for name, kind in kinds.items()
        if name.startswith(PREFIX) and not name.endswith("_created")
    ]
