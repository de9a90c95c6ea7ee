"""The files in deploy/, carried out: the container file's steps one after the other, and the unit's
command as its user, under its restrictions. `make deploy` runs it, as root.

Neither a container's base image nor systemd itself is here: the one is this machine, the other is
what its directives say, done by hand.
"""

from __future__ import annotations

import configparser
import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.containerfile import Image
from tests.deploy.sandbox import Sandbox, is_possible
from tests.patience import wait_until

ROOT = Path(__file__).parents[2]
PATIENCE_S = 300.0
UNIT = ROOT / "deploy" / "penstock.service"
pytestmark = [
    pytest.mark.skipif(os.environ.get("DEPLOY") != "long", reason="make deploy runs it"),
    pytest.mark.timeout(1800),
]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    assert is_possible(), "it takes Linux, and the rights of root"
    file = ROOT / "deploy" / "Containerfile"
    made = Image(ROOT, file, tmp_path_factory.mktemp("image"))
    yield made
    made.close()


def end(process: subprocess.Popen[str]) -> None:
    """And say what it said, for whoever looks for the fault."""
    process.kill()
    print(*process.communicate())


def stop(process: subprocess.Popen[str], how: int) -> tuple[str, str]:
    process.send_signal(how)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out, err


def test_the_container_serves_as_its_user_and_stops_when_told(image: Image) -> None:
    container = image.start("--advertise", "127.0.0.1:9092")
    try:
        wait_until(image.is_healthy, patience_s=PATIENCE_S)
        image.ask("penstock topics create orders -p 1")
        image.ask("penstock produce orders -k a -v one")
        assert image.ask("penstock consume orders --from beginning -n 1").split() == ["one"]
        metrics = image.ask(
            "python -c 'import urllib.request as u; "
            'print(u.urlopen("http://127.0.0.1:9644/metrics").read().decode())\''
        )
        assert "penstock_active_controller 1" in metrics
        (owner,) = set(image.ask("find /var/lib/penstock -name '*.log' -printf '%u\\n'").split())
        assert owner == "penstock"
        assert not image.ask("find /opt/penstock -user penstock")
    except BaseException:
        end(container)
        raise
    out, err = stop(container, signal.Signals[image.stop_signal])
    said = [json.loads(line) for line in (out + err).splitlines()]
    assert {"ready", "stopped"} <= {each["event"] for each in said}


def unit() -> configparser.SectionProxy:
    parsed = configparser.ConfigParser(interpolation=None, strict=False)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    parsed.read_string(UNIT.read_text().replace("\\\n", " "))
    return parsed["Service"]


def confined(service: configparser.SectionProxy, command: str) -> str:
    """What systemd does between its fork and the command."""
    state = f"/var/lib/{service['StateDirectory']}"
    assert service["ProtectSystem"] == "strict" and service["ProtectHome"] == "true"
    assert service["PrivateTmp"] == "true" and service["NoNewPrivileges"] == "true"
    limit = f"ulimit -n {service['LimitNOFILE']}"
    files = f"({limit}) 2> /dev/null && {limit}"
    user = f"--reuid={service['User']} --regid={service['Group']} --init-groups"
    return f"""
mount --make-rprivate /
install -d -o {service["User"]} -g {service["Group"]} {state}
mount --bind {state} {state}
mount -t tmpfs tmpfs /tmp
mount -t tmpfs -o mode=000 tmpfs /home
mount -t tmpfs -o mode=000 tmpfs /root
mount -o remount,bind,ro /
{files} || ulimit -n $(ulimit -Hn)
exec setpriv {user} --no-new-privs env -i PATH=/usr/bin:/bin {command}
"""


def test_the_unit_starts_stops_and_writes_nowhere_else(image: Image) -> None:
    box: Sandbox = image.sandbox
    service = unit()
    box.run("rm -rf /var/lib/penstock")
    box.copy(UNIT.parent, "/checkout/deploy")
    page = (ROOT / "docs" / "running.md").read_text().splitlines()
    for line in [each for each in page if each.startswith("install ")]:
        box.run(f"cd /checkout && {line}")
    verified = box.run("systemd-analyze verify /etc/systemd/system/penstock.service 2>&1")
    assert "penstock.service" not in verified
    script = confined(service, " ".join(shlex.split(service["ExecStart"])))
    started = subprocess.Popen(
        box.words(["unshare", "--mount", "sh", "-ec", script], apart=True),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        box.run(shlex.join(shlex.split(service["ExecStartPost"])), service["User"], apart=True)
        (pid,) = box.run("pgrep -u penstock -f 'penstock start'").split()
        status = dict(
            line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        )
        assert status["NoNewPrivs"].strip() == "1"
        assert status["CapEff"].strip() == "0" * 16
        # As systemd does: as many as asked for, or as the machine allows.
        files = min(int(service["LimitNOFILE"]), int(box.run("ulimit -Hn")))
        assert f"Max open files            {files}" in Path(f"/proc/{pid}/limits").read_text()
        box.run("/opt/penstock/bin/penstock topics create orders -p 1", "penstock", apart=True)
    except BaseException:
        end(started)
        raise
    out, err = stop(started, signal.Signals[service["KillSignal"]])
    said = [json.loads(line) for line in (out + err).splitlines()]
    assert {"ready", "stopped"} <= {each["event"] for each in said}
    assert box.run("ls /var/lib/penstock")
