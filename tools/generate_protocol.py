"""Writes penstock.protocol's entities and tables from Kafka's message definitions.

The definitions come from Kafka's published jars (kafka-clients has every request and response;
kafka-metadata, kafka-raft, kafka-storage and the coordinators have the records), which
tools/apache_kafka.py gets, or from those of another version. Only names, types, versions and
defaults are taken from them, never their prose.

    python -m tools.generate_protocol [--source DIR_OR_JAR ...] [--check]
"""

from __future__ import annotations

import argparse
import json
import keyword
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from tools.apache_kafka import VERSION, ensure_jars

REPO = Path(__file__).resolve().parent.parent
TARGET = PurePosixPath("src/penstock/protocol")

SCALARS = {
    "bool": "bool",
    "int8": "int",
    "int16": "int",
    "uint16": "int",
    "int32": "int",
    "uint32": "int",
    "int64": "int",
    "float64": "float",
    "string": "str",
    "bytes": "bytes",
    "uuid": "bytes",
}
ZEROS = {"bool": "False", "float64": "0.0", "string": '""', "uuid": "ZERO_ID"}
ZEROS |= dict.fromkeys(("bytes", "records"), 'b""')

# Old librdkafka takes a broker whose Produce starts later than 0 for one that cannot compress.
ADVERTISED_MIN = {0: 0}
# Header version 0 has no client id; its definition starts at 1 although the fields tell both.
HEADER_VERSIONS = {"RequestHeader": (0, 2)}

Versions = tuple[int, int]


def parse_versions(text: str | None, within: Versions) -> Versions | None:
    """The range clipped to another one; None when nothing is left of it."""
    if text is None or text == "none":
        return None
    first, _, last = text.partition("-")
    low = int(first.rstrip("+"))
    high = within[1] if text.endswith("+") else int(last or first)
    low, high = max(low, within[0]), min(high, within[1])
    return (low, high) if low <= high else None


def snake(name: str) -> str:
    name = name.replace("KRaft", "Kraft")
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    return name + "_" if keyword.iskeyword(name) else name


@dataclass
class FieldSpec:
    name: str
    type: str
    versions: Versions
    array: bool
    struct: bool
    nullable: Versions | None
    tag: int | None
    tagged: Versions | None
    ignorable: bool
    compact: bool
    default: str | None
    """As Python source; None for the zero of the type."""

    @property
    def optional_struct(self) -> bool:
        return self.struct and not self.array and self.tag is not None


@dataclass
class StructSpec:
    name: str
    versions: Versions
    flexible: int | None
    fields: list[FieldSpec]


@dataclass
class MessageSpec:
    name: str
    kind: str
    family: str
    api_key: int | None
    versions: Versions
    flexible: int | None
    unstable: bool
    structs: list[StructSpec] = field(default_factory=list)
    """Nested structs, innermost first; the message itself is the last."""

    def rename(self, old: str, new: str) -> None:
        for struct in self.structs:
            struct.name = new if struct.name == old else struct.name
            for item in struct.fields:
                item.type = new if item.struct and item.type == old else item.type


class MessageReader:
    """Turns one definition into a MessageSpec."""

    def __init__(self, definition: dict[str, Any], family: str) -> None:
        name = definition["name"]
        self.versions = HEADER_VERSIONS.get(name) or self._valid(definition)
        flexible = parse_versions(definition.get("flexibleVersions"), self.versions)
        self.spec = MessageSpec(
            name=name,
            kind=definition["type"],
            family=family,
            api_key=definition.get("apiKey"),
            versions=self.versions,
            flexible=flexible[0] if flexible else None,
            unstable=definition.get("latestVersionUnstable", False),
        )
        self.common = {item["name"]: item for item in definition.get("commonStructs", [])}
        self._read_struct(name, definition["fields"], self.versions)

    @staticmethod
    def _valid(definition: dict[str, Any]) -> Versions:
        versions = parse_versions(definition["validVersions"], (0, 32767))
        assert versions is not None
        return versions

    def _read_struct(self, name: str, fields: list[dict[str, Any]], versions: Versions) -> None:
        if any(struct.name == name for struct in self.spec.structs):
            return
        specs = [spec for item in fields if (spec := self._read_field(item)) is not None]
        self.spec.structs.append(StructSpec(name, versions, self.spec.flexible, specs))

    def _read_field(self, item: dict[str, Any]) -> FieldSpec | None:
        versions = parse_versions(item.get("versions") or item["taggedVersions"], self.versions)
        if versions is None:
            return None
        array = item["type"].startswith("[]")
        kind = item["type"].removeprefix("[]")
        struct = kind not in SCALARS and kind != "records"
        if struct:
            inner = item.get("fields") or self.common[kind]["fields"]
            self._read_struct(kind, inner, versions)
        return FieldSpec(
            name=snake(item["name"]),
            type=kind,
            versions=versions,
            array=array,
            struct=struct,
            nullable=parse_versions(item.get("nullableVersions"), versions),
            tag=item.get("tag"),
            tagged=parse_versions(item.get("taggedVersions"), versions),
            ignorable=item.get("ignorable", False),
            compact=item.get("flexibleVersions") != "none",
            default=read_default(item, kind, array),
        )


def read_default(item: dict[str, Any], kind: str, array: bool) -> str | None:
    if "default" not in item:
        return None
    value = item["default"]
    if value is None or value == "null":
        return "None"
    if array or kind not in SCALARS:
        raise ValueError(f"default {value!r} of {item['name']}")
    if kind == "bool":
        source = "True" if str(value).lower() == "true" else "False"
    elif kind == "string":
        source = json.dumps(value)
    else:
        source = repr(float(value)) if kind == "float64" else str(int(str(value), 0))
    return None if source == ZEROS.get(kind, "0") else source


# Reading definitions


def definitions(source: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Pairs of family (the part of Kafka it belongs to) and definition, in name order."""
    for family, text in sorted(texts(source)):
        yield family, json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))


def texts(source: Path) -> Iterator[tuple[str, str]]:
    if source.is_dir():
        for path in source.glob("messages/*.json"):
            yield "clients", path.read_text()
        for path in source.glob("records/*/*.json"):
            yield path.parent.name, path.read_text()
        return
    family = re.sub(r"^kafka-|-[\d.]+\.jar$|\.jar$", "", source.name)
    with zipfile.ZipFile(source) as jar:
        for name in jar.namelist():
            if re.fullmatch(r"(common/)?(message|metadata)/\w+\.json", name):
                yield family, jar.read(name).decode()


def read_messages(sources: list[Path]) -> list[MessageSpec]:
    specs = []
    for source in sources:
        for family, definition in definitions(source):
            if definition["validVersions"] != "none":
                specs.append(MessageReader(definition, family).spec)
    return sorted(specs, key=lambda spec: spec.name)


# Writing entities


def module_of(spec: MessageSpec) -> str:
    """Path below messages/ without suffix."""
    if spec.kind == "header":
        return "header"
    if spec.kind in ("request", "response"):
        return snake(re.sub("Request$|Response$", "", spec.name))
    stem = re.sub("Key$|Value$", "", spec.name) if "coordinator" in spec.kind else spec.name
    return "records/" + snake(stem)


def make_names_unique(specs: list[MessageSpec]) -> None:
    """A struct that request and response both have is told apart by what it belongs to."""
    owners: dict[str, list[MessageSpec]] = {}
    for spec in specs:
        for struct in spec.structs:
            owners.setdefault(struct.name, []).append(spec)
    for name, found in owners.items():
        if len(found) > 1:
            for spec in found:
                prefix = re.search("[A-Z][a-z]+$", spec.name)
                assert prefix is not None
                spec.rename(name, prefix.group() + name)


def field_type(item: FieldSpec, spec: MessageSpec) -> str:
    """The annotation of an element, without list or None."""
    if item.type == "records":
        return "Sized" if spec.kind == "response" else "bytes | bytearray | memoryview"
    return item.type if item.struct else SCALARS[item.type]


def may_be_none(item: FieldSpec) -> bool:
    return bool(item.nullable) or item.default == "None" or item.optional_struct


def parameter(item: FieldSpec, spec: MessageSpec) -> str:
    kind = field_type(item, spec)
    none = " | None" if may_be_none(item) else ""
    if item.array:
        default = item.default or "()"
        return f"{item.name}: Iterable[{kind}]{none} = {default}"
    if item.struct:
        return f"{item.name}: {kind} | None = None"
    if item.type == "records" and none:
        return f"{item.name}: {kind} | None = None"
    return f"{item.name}: {kind}{none} = {item.default or ZEROS.get(item.type, '0')}"


def assignment(item: FieldSpec, spec: MessageSpec) -> str:
    kind = field_type(item, spec)
    name = item.name
    none = " | None" if may_be_none(item) else ""
    if item.array:
        value = f"{name} if isinstance({name}, list) else list({name})"
        if none:
            value = f"{name} if {name} is None or isinstance({name}, list) else list({name})"
        return f"self.{name}: list[{kind}]{none} = {value}"
    if item.struct and not none:
        return f"self.{name}: {kind} = {kind}() if {name} is None else {name}"
    return f"self.{name}: {kind}{none} = {name}"


def schema_line(item: FieldSpec) -> str:
    kind = item.type if item.struct else json.dumps(item.type)
    parts = [json.dumps(item.name), kind, str(item.versions)]
    if item.array:
        parts.append("array=True")
    if item.nullable:
        parts.append(f"nullable={item.nullable}")
    if item.tag is not None:
        parts += [f"tag={item.tag}", f"tagged={item.tagged}"]
    if item.ignorable:
        parts.append("ignorable=True")
    if item.default is not None:
        parts.append(f"default={item.default}")
    if not item.compact:
        parts.append("compact=False")
    return f"Field({', '.join(parts)}),"


def struct_lines(struct: StructSpec, spec: MessageSpec) -> list[str]:
    names = "".join(f'"{name}", ' for name in sorted(item.name for item in struct.fields))
    lines = [
        f"class {struct.name}(Entity):",
        f"    __slots__ = ({names})",
        f'    NAME = "{struct.name}"',
        f"    VERSIONS = {struct.versions}",
        f"    FLEXIBLE = {struct.flexible}",
    ]
    if struct is spec.structs[-1] and spec.api_key is not None:
        lines.append(f"    API_KEY = {spec.api_key}")
    lines += ["    SCHEMA = (", *(" " * 8 + schema_line(item) for item in struct.fields), "    )"]
    if struct.fields:
        lines += ["", "    def __init__(", "        self,", "        *,"]
        lines += [f"        {parameter(item, spec)}," for item in struct.fields]
        lines += ["    ) -> None:"]
        lines += [f"        {assignment(item, spec)}" for item in struct.fields]
    return [*lines, "", ""]


def module_title(specs: list[MessageSpec]) -> list[str]:
    first = specs[0]
    subject = first.name
    if len(specs) > 1 and first.kind != "header":
        subject = re.sub("Request$|Key$", "", subject)
    number = "" if first.api_key is None else f" (number {first.api_key})"
    ranges = ", ".join(f"{spec.name} {spec.versions[0]}-{spec.versions[1]}" for spec in specs)
    if len(specs) == 1:
        ranges = "versions " + "-".join(map(str, first.versions))
    return [
        f'"""{subject}{number}. Written by tools/generate_protocol.py.',
        "",
        f"{ranges[0].upper()}{ranges[1:]}.",
        '"""',
    ]


def entity_module(specs: list[MessageSpec]) -> str:
    make_names_unique(specs)
    structs = [(struct, spec) for spec in specs for struct in spec.structs]
    text = "\n".join(line for struct, spec in structs for line in struct_lines(struct, spec))
    imported = [name for name in ("Iterable", "Sized") if re.search(rf"\b{name}\b", text)]
    lines = [*module_title(specs), "", "from __future__ import annotations", ""]
    if imported:
        lines += [f"from collections.abc import {', '.join(imported)}", ""]
    if "ZERO_ID" in text:
        lines.append("from penstock.model.id import ZERO_ID")
    names = "Entity, Field" if "Field(" in text else "Entity"
    lines.append(f"from penstock.protocol.entity import {names}")
    return "\n".join([*lines, "", "", text])


# Writing tables


def api_rows(specs: list[MessageSpec]) -> Iterator[tuple[int, str]]:
    responses = {spec.api_key: spec for spec in specs if spec.kind == "response"}
    for spec in specs:
        if spec.kind != "request" or spec.api_key is None:
            continue
        low, high = spec.versions
        name = spec.name.removesuffix("Request")
        response = responses[spec.api_key].flexible
        unstable = ", unstable=True" if spec.unstable else ""
        if spec.api_key in ADVERTISED_MIN:
            unstable += f", advertised_min={ADVERTISED_MIN[spec.api_key]}"
        row = (
            f'ApiSpec({spec.api_key}, "{name}", "{module_of(spec)}", {low}, {high}, '
            f"{spec.flexible}, {response}{unstable}),"
        )
        yield spec.api_key, row


API_TABLE_HEAD = '''"""Every API of the protocol. Written by tools/generate_protocol.py."""

from __future__ import annotations

from penstock.protocol.api import ApiSpec

APIS = (
'''

RECORD_TABLE_HEAD = '''"""Numbered records by their log. Written by tools/generate_protocol.py."""

from __future__ import annotations

from penstock.protocol.record_type import RecordType

'''

RECORD_TABLES = {
    "METADATA": ("metadata", "metadata"),
    "GROUP_KEYS": ("group-coordinator", "coordinator-key"),
    "GROUP_VALUES": ("group-coordinator", "coordinator-value"),
    "TRANSACTION_KEYS": ("transaction-coordinator", "coordinator-key"),
    "TRANSACTION_VALUES": ("transaction-coordinator", "coordinator-value"),
    "SHARE_KEYS": ("share-coordinator", "coordinator-key"),
    "SHARE_VALUES": ("share-coordinator", "coordinator-value"),
    "REMOTE_LOG": ("storage", "metadata"),
}


def api_table(specs: list[MessageSpec]) -> str:
    rows = [f"    {row}" for _, row in sorted(api_rows(specs))]
    return API_TABLE_HEAD + "\n".join(rows) + "\n)\n"


def record_table(specs: list[MessageSpec]) -> str:
    lines = []
    for table, place in RECORD_TABLES.items():
        found = [spec for spec in specs if (spec.family, spec.kind) == place]
        found.sort(key=lambda spec: spec.api_key or 0)
        lines.append(f"{table} = (")
        for spec in found:
            low, high = spec.versions
            module = module_of(spec).removeprefix("records/")
            row = f'{spec.api_key}, "{spec.name}", "{module}", {low}, {high}'
            lines.append(f"    RecordType({row}),")
        lines.append(")")
    return RECORD_TABLE_HEAD + "\n".join(lines) + "\n"


def generate(specs: list[MessageSpec]) -> dict[PurePosixPath, str]:
    modules: dict[str, list[MessageSpec]] = {}
    for spec in specs:
        modules.setdefault(module_of(spec), []).append(spec)
    files = {
        TARGET / "messages" / f"{module}.py": entity_module(members)
        for module, members in modules.items()
    }
    if any(spec.kind == "request" for spec in specs):
        files[TARGET / "api_table.py"] = api_table(specs)
    if all(any(s.family == family for s in specs) for family, _ in RECORD_TABLES.values()):
        files[TARGET / "record_table.py"] = record_table(specs)
    return files


def write_files(root: Path, files: dict[PurePosixPath, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    config = ["--config", str(REPO / "pyproject.toml")]
    ruff = [sys.executable, "-m", "ruff", "format", "--quiet", *config, str(root / TARGET)]
    subprocess.run(ruff, check=True)


def differences(files: dict[PurePosixPath, str], complete: bool) -> list[str]:
    with tempfile.TemporaryDirectory() as scratch:
        write_files(Path(scratch), files)
        found = [str(name) for name in files if not same(Path(scratch) / name, REPO / name)]
    if complete:
        committed = {path.relative_to(REPO) for path in generated_paths()}
        found += [str(path) for path in committed if PurePosixPath(path) not in files]
    return sorted(found)


def same(left: Path, right: Path) -> bool:
    return right.exists() and left.read_text() == right.read_text()


def generated_paths() -> Iterator[Path]:
    for path in (REPO / TARGET / "messages").rglob("*.py"):
        if path.name != "__init__.py":
            yield path


def kafka_jars() -> list[Path]:
    """Those of brokers and clients; Kafka Streams has definitions of its own, for its instances."""
    return [
        jar
        for jar in sorted(ensure_jars().glob(f"kafka-*-{VERSION}.jar"))
        if not jar.name.startswith("kafka-streams-") and has_definitions(jar)
    ]


def has_definitions(jar: Path) -> bool:
    with zipfile.ZipFile(jar) as archive:
        return any(
            name.startswith("common/message/") and name.endswith(".json")
            for name in archive.namelist()
        )


def main() -> int:
    parser = argparse.ArgumentParser(description="Generate protocol entities.")
    parser.add_argument("--source", type=Path, action="append", metavar="DIR_OR_JAR")
    parser.add_argument("--check", action="store_true", help="compare with what is committed")
    options = parser.parse_args()
    sources = options.source or kafka_jars()
    missing = [str(source) for source in sources if not source.exists()]
    if missing:
        print(f"no definitions at {', '.join(missing)}; name a directory or jar with --source")
        return 2
    specs = read_messages(sources)
    files = generate(specs)
    if not options.check:
        for name in files:
            (REPO / name).parent.mkdir(parents=True, exist_ok=True)
        write_files(REPO, files)
        print(f"wrote {len(files)} modules")
        return 0
    found = differences(files, complete=any(s.family == "metadata" for s in specs))
    print("\n".join(f"differs: {name}" for name in found) or "up to date")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
