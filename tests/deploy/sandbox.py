"""A root of its own over this machine's files, for commands that install things.

What they write is in memory and gone when it is closed. It takes Linux and the rights of root; the
network is the machine's, but for what is asked to run on one of its own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

MAKE = """
set -e
mount --make-rprivate /
mount -t tmpfs -o size=4g tmpfs {at}
mkdir {at}/up {at}/work {at}/tree
mount -t overlay overlay -o lowerdir=/,upperdir={at}/up,workdir={at}/work {at}/tree
mount --rbind /dev {at}/tree/dev
mount -t proc proc {at}/tree/proc
mkdir -p {at}/tree/usr/local/own-python
mount --bind {python} {at}/tree/usr/local/own-python
echo /usr/local/own-python/lib > {at}/tree/etc/ld.so.conf.d/000-own-python.conf
chroot {at}/tree /sbin/ldconfig
ip link set lo up
echo ready
exec sleep infinity
"""
PATH = "/usr/local/own-python/bin:/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin"


def is_possible() -> bool:
    tools = ("unshare", "nsenter", "setpriv", "ip")
    return sys.platform == "linux" and os.getuid() == 0 and all(map(shutil.which, tools))


class Sandbox:
    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.root = folder / "tree"
        said = MAKE.format(at=folder, python=sys.base_prefix)
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "--net", "sh", "-c", said], stdout=subprocess.PIPE, text=True
        )
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == "ready\n"

    def words(
        self,
        command: Sequence[str],
        user: str = "root",
        environment: Mapping[str, str] | None = None,
        *,
        apart: bool = False,
    ) -> list[str]:
        """What to run for it; `apart` from the machine's network."""
        enter = ["nsenter", f"--target={self._holder.pid}", "--mount"]
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        given = {"PATH": PATH, "HOME": "/tmp"} | dict(environment or {})
        own = ["env", "-i", *(f"{name}={value}" for name, value in given.items())]
        net = ["--net"] if apart else []
        return [*enter, *net, "chroot", str(self.root), *become, *own, *command]

    def run(self, script: str, user: str = "root", *, apart: bool = False) -> str:
        """What it says; it has to end well."""
        words = self.words(["sh", "-ec", script], user, apart=apart)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout

    def copy(self, source: Path, target: str, ignored: Sequence[str] = ()) -> None:
        """From this machine."""
        excluded = [f"--exclude=./{each}" for each in ignored]
        packed = subprocess.Popen(
            ["tar", "-C", str(source), *excluded, "-cf", "-", "."], stdout=subprocess.PIPE
        )
        self._unpack(packed, target)

    def copy_from(self, other: Sandbox, source: str, target: str) -> None:
        packed = subprocess.Popen(
            other.words(["tar", "-C", source, "-cf", "-", "."]), stdout=subprocess.PIPE
        )
        self._unpack(packed, target)

    def _unpack(self, packed: subprocess.Popen[bytes], target: str) -> None:
        place = shlex.quote(target)
        into = self.words(["sh", "-ec", f"mkdir -p {place}; tar -C {place} -xf -"])
        assert packed.stdout is not None
        with packed.stdout:
            subprocess.run(into, stdin=packed.stdout, check=True)
        assert packed.wait() == 0

    def close(self) -> None:
        self._holder.kill()
        self._holder.communicate()
