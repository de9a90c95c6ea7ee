"""Whose socket a connection on this machine comes from: what Linux tells of it.

Asked for one socket by netlink: /proc/net/tcp lists all of them, thousands on a busy machine.
"""

from __future__ import annotations

import os
import socket
import struct

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_ANY_STATE = 0xFFFFFFFF
_NO_COOKIE = 0xFFFFFFFF
_HEADER = struct.Struct("=IHHII")
"""Length, type, flags, sequence, process."""
_QUESTION = struct.Struct("=BBBBI")
"""Family, protocol, extensions, padding, states."""
_PORTS = struct.Struct("!HH")
_TAIL = struct.Struct("=III")
"""Interface and cookie."""
_INODE_AT = _HEADER.size + 4 + 48 + 16

Address = tuple[str, int]


def socket_inode(own: Address, other: Address) -> int:
    """Of the socket with these two ends; 0 if there is none any more."""
    ends = _PORTS.pack(own[1], other[1]) + _padded(own[0]) + _padded(other[0])
    body = _QUESTION.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0, _ANY_STATE) + ends
    body += _TAIL.pack(0, _NO_COOKIE, _NO_COOKIE)
    head = _HEADER.pack(_HEADER.size + len(body), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as netlink:
        netlink.settimeout(1.0)
        netlink.send(head + body)
        answer = netlink.recv(8192)
    kind = _HEADER.unpack_from(answer)[1]
    if kind != _SOCK_DIAG_BY_FAMILY:
        return 0
    return int.from_bytes(answer[_INODE_AT : _INODE_AT + 4], "little")


def _padded(host: str) -> bytes:
    return socket.inet_aton(host).ljust(16, b"\0")


def has_socket(pid: int, inode: int) -> bool:
    folder, wanted = f"/proc/{pid}/fd", f"socket:[{inode}]"
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    for name in names:
        try:
            if os.readlink(f"{folder}/{name}") == wanted:  # noqa: PTH115
                return True
        except OSError:
            continue
    return False
