"""Write docs/configuration.md from the declared settings; `--check` only tells whether it is
up to date."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from penstock.settings.broker import BROKER_KEYS
from penstock.settings.key import AT_START, PROMISE, READ, UNREAD, Key
from penstock.settings.synonym import TOPIC_TO_BROKER
from penstock.settings.topic import TOPIC_KEYS

TARGET = Path(__file__).resolve().parent.parent / "docs" / "configuration.md"

INTRODUCTION = """\
# Configuration

<!-- Written by tools/generate_config_docs.py from src/penstock/settings; do not edit. -->

Penstock takes Kafka's own settings. A broker reads them from a properties file
(`penstock start --config FILE`) and from `--set key=value`, which wins; an unknown name or a
malformed value is refused with the nearest valid name or with what was expected. Topics carry
settings of their own, and clients change both through AlterConfigs.

Every setting of Kafka's brokers is of one of these kinds:

- **with effect**: the node acts on it.
- **accepted without effect**: it tunes something that this node does not have, or that a cluster of
  one has no use for, such as the threads of a Java broker. One line of the log names those that are
  set.
- **only the default is accepted**: whoever sets it relies on something that is not there, such as
  encryption or a policy class. The node does not start with it, and says which
  setting it is and what to do.

Also refused are settings that name other nodes: a node is a cluster of one, so `process.roles` is
`broker,controller`, and `controller.quorum.voters` or `controller.quorum.bootstrap.servers` name
the node itself. `offsets.topic.replication.factor` and `transaction.state.log.replication.factor`
are 1 where they are set. One listener for clients is served. With
`default.replication.factor` above 1, topics that ask for no number of replicas are refused, as
Kafka refuses them.

Defaults are Kafka's, with these exceptions:

| setting | Kafka | Penstock | why |
| --- | --- | --- | --- |
| `num.partitions` | 1 | 3 | topics can grow with their readers |
| `default.replication.factor` | 1 | 3, or the number of brokers where fewer | safe by default |
| `log.flush.interval.messages`, `flush.messages` | off | 1 | acknowledged means on disk |
| `log.dir` | a temporary directory | `penstock-data` | data outlives a restart |
| `node.id`, `process.roles` | required | 1, `broker,controller` | one node needs no file |

"update" says whether a setting may change while the broker runs: *cluster-wide* for all brokers
or one, *per-broker* for one at a time, *read-only* at the next start. DescribeConfigs says the
same, and AlterConfigs refuses what is read-only. A change in the metadata log that this node would
refuse (Apache Kafka may have written it) is not followed; one line of the log names it.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if the page is out of date")
    text = render()
    if not parser.parse_args().check:
        TARGET.write_text(text, "utf-8")
        return 0
    if TARGET.exists() and TARGET.read_text("utf-8") == text:
        return 0
    print("docs/configuration.md is out of date: run tools/generate_config_docs.py")
    return 1


def render() -> str:
    return "\n".join(
        [
            INTRODUCTION,
            "## Topics\n",
            _table(TOPIC_KEYS.values(), with_broker_name=True),
            "## Brokers\n",
            _table(_with_effect(READ, AT_START)),
            "## Brokers: accepted without effect\n",
            _table(_with_effect(UNREAD)),
            "## Brokers: only the default is accepted\n",
            _table(_with_effect(PROMISE)),
        ]
    )


def _with_effect(*effects: str) -> list[Key]:
    return [key for key in BROKER_KEYS.values() if key.effect in effects]


def _table(keys: Iterable[Key], with_broker_name: bool = False) -> str:
    last = "broker's name" if with_broker_name else "update"
    lines = [
        f"| setting | type | default | valid | {last} | meaning |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for key in sorted(keys, key=lambda key: key.name):
        names = TOPIC_TO_BROKER.get(key.name, ())
        fifth = ", ".join(f"`{name}`" for name in names) if with_broker_name else key.update_mode
        cells = [
            f"`{key.name}`",
            key.type_name.lower(),
            _default(key),
            "" if key.check is None else str(key.check),
            fifth,
            key.documentation,
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _default(key: Key) -> str:
    if key.default is None:
        return "none"
    return f"`{key.default}`" if key.default else "empty"


if __name__ == "__main__":
    sys.exit(main())
