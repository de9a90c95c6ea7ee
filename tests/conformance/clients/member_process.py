r"""A group member in a process of its own, so that a test can kill it without a word to the group.

    python -m tests.conformance.clients.member_process CLIENT BOOTSTRAP GROUP TOPIC \
        SESSION_MS PROTOCOL

It prints a line once it has partitions, and polls until it is killed.
"""

from __future__ import annotations

import sys

from tests.conformance.clients.member import Joining
from tests.conformance.clients.membership import MEMBERS


def main(
    client: str, bootstrap_servers: str, group: str, topic: str, session_ms: str, protocol: str
) -> None:
    joining = Joining(group, (topic,), session_ms=int(session_ms), protocol=protocol)
    member = MEMBERS[client](bootstrap_servers, joining)
    told = False
    while True:
        member.poll()
        if not told and member.assignment():
            told = True
            print("assigned", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
