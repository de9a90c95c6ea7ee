"""`penstock cluster`: what is typed, and what is printed."""

from __future__ import annotations

import typer

from penstock.cli.argument import Json, cluster_of, quiet_app
from penstock.cli.local import command as local_command
from penstock.cli.output import plural, print_json, print_line, print_table

app = quiet_app(
    "The cluster as a whole: info; on this machine: start, status, kill, stop, restart."
)
local_command.add_to(app)


@app.command("info")
def info_command(ctx: typer.Context, as_json: Json = False) -> None:
    """Show brokers, controller, features and the number of topics."""
    from penstock.cli.cluster_info import describe_cluster

    info = describe_cluster(cluster_of(ctx))
    if as_json:
        print_json(info.document())
        return
    version = (
        f"{info.kafka_version} or newer, by its metadata.version" if info.kafka_version else "-"
    )
    topics = f"{plural(info.topics, 'topic')}, {plural(info.partitions, 'partition')}"
    internal = (
        f"{plural(info.internal_topics, 'topic')}, {plural(info.internal_partitions, 'partition')}"
    )
    for label, value in (
        ("cluster", info.cluster_id),
        ("controller", "-" if info.controller is None else f"node {info.controller}"),
        ("Kafka", version),
        ("topics", topics),
        ("internal", internal),
    ):
        print_line(f"{label:<11} {value}")
    print_line("")
    rows = [(each.id, each.host, each.port, each.rack) for each in info.brokers]
    print_table(("broker", "host", "port", "rack"), rows)
    if info.features:
        print_line("")
        print_table(("feature", "level"), sorted(info.features.items()))
