"""The process behind a connection is found, and nobody behind one that is gone."""

from __future__ import annotations

import os
import socket
import sys

import pytest

from penstock.testing.socket_owner import has_socket, socket_inode

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")


def test_the_owner_of_a_connection_is_found() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as door,
        socket.create_connection(door.getsockname()) as caller,
    ):
        inode = socket_inode(caller.getsockname(), door.getsockname())
        assert inode == os.fstat(caller.fileno()).st_ino
        assert has_socket(os.getpid(), inode)
        assert not has_socket(os.getppid(), inode)


def test_a_connection_that_never_was_has_no_owner() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        assert socket_inode(("127.0.0.1", 1), door.getsockname()) == 0
