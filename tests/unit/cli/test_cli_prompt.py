"""At the prompt: whatever is typed or closed, one plain line and the right exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.extra import missing_extra
from penstock.cli.interrupt import interruptible
from penstock.cli.printer import RecordPrinter
from tests.unit.cli.conftest import PENSTOCK, Command

HUGE = "9" * 30
NOT_UTF8 = "\udcff\udcfe"


@pytest.mark.parametrize(
    "arguments",
    [
        *(("--timeout", each, "topics", "list") for each in ("-5", "0", "nan", "inf", "1e300")),
        ("topics", "list", "--timeout", "nan"),
        ("-b", "h:99999", "topics", "list"),
        ("-X", "novalue", "topics", "list"),
        ("topics", "create", "t", "-p", HUGE),
        ("topics", "create", "t", "-p", "2147483647"),
        ("topics", "create", "t", "-r", HUGE),
        ("topics", "create", ""),
        ("topics", "create", "t", "-s", f"k{NOT_UTF8}=v"),
        ("topics", "describe", NOT_UTF8),
        ("topics", "alter", "t", "-p", HUGE),
        ("produce", "t", "-v", "x", "-p", HUGE),
        ("produce", "t", "-v", "x", "--timestamp", f"@{HUGE}"),
        ("produce", "t", "-v", "x", "--timestamp", "0001-01-01"),
        ("produce", "t", "-K", ""),
        ("produce", "t", "-K", "\\"),
        ("produce", NOT_UTF8, "-v", "x"),
        ("consume", "t", "-n", HUGE),
        ("consume", "t", "-p", HUGE),
        ("consume", "t", "--from", f"@{HUGE}"),
        ("consume", "t", "--separator", "\\x"),
        ("consume", "t", "--template", "%z"),
        ("consume", "t", "--template", "%s", "--json"),
        ("log-dirs", "--broker", HUGE),
        ("dlq", "show", "t", "-p", "0", "--offset", HUGE),
        ("dlq", "redrive", "t", "--rate", "inf"),
        ("dlq", "redrive", "t", "--rate", "nan"),
        ("fraud", "generate", "--rate", "inf"),
        ("fraud", "generate", "--seed", "-5"),
        ("fraud", "check", "--wait", "nan"),
        ("pipeline", "stop", "x", "--timeout", "nan"),
        ("pipeline", "run", "x", "--metrics-port", "99999"),
    ],
)
def test_what_no_command_can_use(nowhere: Command, arguments: tuple[str, ...]) -> None:
    nowhere.fail(*arguments, code=2)


@pytest.mark.parametrize(
    "arguments",
    [
        ("produce", "t", "-f", "/"),
        ("produce", "t", "-f", "/nonexistent/x"),
        ("pipeline", "run", "/"),
        ("pipeline", "run", "."),
        ("pipeline", "status", "x", "--dir", "/dev/null"),
        ("-b", "a..b:9", "topics", "list"),
        ("-b", "nosuchhost.invalid:9092", "topics", "list"),
    ],
)
def test_what_is_not_there(nowhere: Command, arguments: tuple[str, ...]) -> None:
    nowhere.fail(*arguments)


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b"\xff\xfe",
        rb'{"value": "\ud800"}',
        b'{"value": "x", "timestamp": 1e30}',
        b'{"value": "x", "timestamp": 99999999999999999999}',
        rb'{"value": "x", "headers": [{"name": "\ud800"}]}',
        b'{"value": "x", "headers": 3}',
    ],
)
def test_lines_that_are_no_records(command: Command, topic: str, line: bytes) -> None:
    said = command.fail("produce", topic, "--records", stdin=line)
    assert said.startswith("record 1: ")


def test_bytes_go_in_and_out_as_they_are(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    command.run("produce", topic, "-v", NOT_UTF8, "-k", NOT_UTF8, "-H", f"h={NOT_UTF8}")
    shown = command.run("consume", topic, "--template", "%k|%s|%h")
    assert shown.out == b"\xff\xfe|\xff\xfe|h=\xff\xfe"


def test_any_time_can_be_shown(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1", "-s", "retention.ms=-1")
    command.run("configs", "set", "topic", topic, f"message.timestamp.after.max.ms={2**63 - 1}")
    command.run("produce", topic, "-v", "x", "--timestamp", "@999999999999999")
    assert command.run("consume", topic, "-m").lines == ["0:0\t@999999999999999\tx"]


def shell(command: Command, script: str) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "-c", script],
        stderr=subprocess.PIPE,
        env=command.environment() | {"PATH": f"{Path(PENSTOCK).parent}:{os.environ['PATH']}"},
        check=False,
    )
    return done.returncode, done.stderr.decode()


def test_output_that_has_nowhere_to_go(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    command.run("produce", topic, stdin=b"some line\n" * 20_000)
    full = "penstock: cannot read or write: No space left on device\n"
    for arguments in ("topics list", f"consume {topic}", f"produce {topic} -v x --json", "--help"):
        assert shell(command, f"penstock {arguments} >/dev/full") == (1, full)
        assert shell(command, f"penstock {arguments} >/dev/full 2>/dev/full") == (1, "")
        assert shell(command, f"penstock {arguments} | true; exit ${{PIPESTATUS[0]}}") == (0, "")
        assert shell(command, f"penstock {arguments} >&-") == (0, "")
    assert shell(command, f"penstock produce {topic} <&- >/dev/null") == (0, "")


def test_a_quiet_produce_is_silent(command: Command, topic: str) -> None:
    """On a terminal, and for longer than the progress waits before it shows."""
    command.run("topics", "create", topic, "-p", "1")
    slow = f"(for n in 1 2 3 4; do echo $n; sleep 0.4; done) | penstock produce {topic} -q"
    assert terminal(command, slow) == ""
    assert "produced 4 records" in terminal(command, slow.removesuffix(" -q"))


def terminal(command: Command, script: str, columns: int = 100) -> str:
    """What a person sees who runs it."""
    import pty

    ours, theirs = pty.openpty()
    environment = command.environment() | {"COLUMNS": str(columns)}
    environment["PATH"] = f"{Path(PENSTOCK).parent}:{os.environ['PATH']}"
    with subprocess.Popen(
        ["bash", "-c", script], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ):
        os.close(theirs)
        seen = b""
        while True:
            try:
                chunk = os.read(ours, 1 << 16)
            except OSError:
                break
            if not chunk:
                break
            seen += chunk
    os.close(ours)
    return seen.decode()


def test_an_error_after_ctrl_c_is_the_ctrl_c() -> None:
    def swallow(_: list[str]) -> int:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        except KeyboardInterrupt:
            raise ImportError("as a library says it") from None
        return 0

    before = signal.getsignal(signal.SIGINT)
    assert interruptible(swallow, [], last=False) == 130
    assert signal.getsignal(signal.SIGINT) is before


def test_a_ctrl_c_that_a_library_drops_still_ends_a_wait(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    def records() -> Iterator[None]:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        except KeyboardInterrupt:
            pass
        yield None
        raise AssertionError("it went on")

    def consume(_: list[str]) -> int:
        RecordPrinter().print_all(records())
        return 0

    with pytest.raises(KeyboardInterrupt):
        interruptible(consume, [], last=False)


def test_ctrl_c_is_left_alone_where_it_is_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        handler = interruptible(lambda _: int(signal.getsignal(signal.SIGINT)), [], last=False)
        assert handler == int(signal.SIG_IGN)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_missing_library_names_the_extra(nowhere: Command, tmp_path: Path) -> None:
    (tmp_path / "orjson.py").write_text("raise ModuleNotFoundError(name='orjson')")
    environment: dict[str, Any] = {"PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    failed = subprocess.run(
        [PENSTOCK, "pipeline", "run", "fraud"],
        capture_output=True,
        text=True,
        env=nowhere.environment() | environment,
        check=False,
        cwd=tmp_path,
    )
    assert failed.returncode == 1
    assert failed.stderr.startswith("penstock: orjson is not installed;")
    assert "in Penstock's checkout: pip install '.[spark]'" in failed.stderr


def test_other_errors_name_no_extra() -> None:
    assert missing_extra(ModuleNotFoundError(name="mine")) is None
    assert missing_extra(ValueError("x")) is None
