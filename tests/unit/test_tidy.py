"""The house stays livable: what grows past what one can hold in mind is taken apart."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "penstock"
GENERATED = (SOURCE / "protocol" / "messages", SOURCE / "protocol" / "api_table.py")

MODULE_LINES_MAX = 500
FUNCTION_LINES_MAX = 60
USUAL_FUNCTION_LINES = 41


def modules() -> Iterator[Path]:
    for path in sorted(SOURCE.rglob("*.py")):
        if not any(path == one or one in path.parents for one in GENERATED):
            yield path


def functions() -> Iterator[tuple[str, int]]:
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                # A command's options may fill a screen; what counts is what it does.
                lines = (node.end_lineno or node.lineno) - node.body[0].lineno + 1
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", lines


def test_no_module_is_too_long() -> None:
    sizes = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in modules()}
    assert {name: size for name, size in sizes.items() if size > MODULE_LINES_MAX} == {}


def test_no_function_is_too_long() -> None:
    assert [one for one in functions() if one[1] > FUNCTION_LINES_MAX] == []


def test_nine_functions_in_ten_are_short() -> None:
    lines = sorted(size for _, size in functions())
    assert lines[len(lines) * 9 // 10] < USUAL_FUNCTION_LINES


def test_every_module_says_what_it_owns() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in modules()
        if path.name != "__init__.py" and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_every_test_file_has_a_name_of_its_own() -> None:
    """Of two with one name pytest collects the first only."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_every_module_is_used() -> None:
    """A module that nothing imports and nothing runs is dead."""
    text = "\n".join(
        path.read_text()
        for folder in ("src", "tests", "tools", "bench")
        for path in (ROOT / folder).rglob("*.py")
    )
    text += (ROOT / "pyproject.toml").read_text()
    loaded_by_name = {"api", "authorization", "messages", "records"}
    dead = []
    for path in modules():
        dotted = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        package, _, name = dotted.rpartition(".")
        if name in ("__init__", "__main__") or package.rpartition(".")[2] in loaded_by_name:
            continue
        names = (dotted, f"from {package} import")
        if not any(one in text for one in names):
            dead.append(dotted)
    assert dead == []
