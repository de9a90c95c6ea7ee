"""`penstock fraud`: what is typed, and what is printed. The detector itself runs as a pipeline."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.argument import Bootstrap, Json, cluster_of, quiet_app
from penstock.cli.cluster import Cluster, key_values
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.output import print_json, print_line, print_table
from penstock.cli.progress import Progress

if TYPE_CHECKING:
    from penstock.pipelines.jobs.fraud.accuracy import Accuracy
    from penstock.pipelines.jobs.fraud.checker import Report
    from penstock.pipelines.jobs.fraud.rule import Rule

app = quiet_app("The fraud detector: its rules, traffic to try it, and the check of its verdicts.")
rules_app = quiet_app("Rules: list, set, withdraw. A running detector takes them up at once.")
app.add_typer(rules_app, name="rules")

_RANGE = 1 << 32
RuleName = Annotated[str, typer.Argument(metavar="RULE", show_default=False)]


@rules_app.command("list")
def list_rules(
    ctx: typer.Context, bootstrap_server: Bootstrap = None, as_json: Json = False
) -> None:
    """Show the rules as they stand in the topic."""
    with _fraud(ctx, bootstrap_server) as (cluster, client):
        from penstock.pipelines.jobs.fraud.rule_book import RuleBook

        rules = RuleBook(client, cluster.timeout_s).read()
    if as_json:
        print_json({name: _rule_document(rule) for name, rule in rules.items()})
        return
    if not rules:
        print_line("no rules yet: the detector's first start writes the shipped ones")
        return
    print_table(("rule", "kind", "on", "settings"), [_rule_row(*one) for one in rules.items()])


def _rule_document(rule: Rule | str) -> dict[str, Any]:
    from penstock.pipelines.jobs.fraud.rule import rule_fields

    return {"error": rule} if isinstance(rule, str) else rule_fields(rule)


def _rule_row(name: str, rule: Rule | str) -> tuple[str, str, str, str]:
    fields = _rule_document(rule)
    if "error" in fields:
        return name, "?", "no", f"cannot be understood: {fields['error']}"
    kind, enabled = fields.pop("kind"), fields.pop("enabled")
    settings = " ".join(f"{key}={_field(value)}" for key, value in fields.items())
    return name, kind, "yes" if enabled else "no", settings


def _field(value: Any) -> str:
    return ",".join(value) if isinstance(value, tuple | list) else f"{value}"


@rules_app.command("set")
def set_rule(
    ctx: typer.Context,
    name: RuleName,
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE...]", show_default=False)
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", "-k", help="What it looks at; needed for a new rule.")
    ] = None,
    bootstrap_server: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """Add a rule, or change settings of one that is there.

    \b
    penstock fraud rules set velocity-1m count=8
    penstock fraud rules set blocked --kind merchants merchants=shop-7,shop-9
    penstock fraud rules set travel enabled=false
    """
    fields: dict[str, Any] = dict(key_values(settings or (), "a setting"))
    if kind is not None:
        fields["kind"] = kind
    if not fields:
        raise UsageFailure("nothing to set: give KEY=VALUE, or --kind for a new rule")
    with _fraud(ctx, bootstrap_server) as (cluster, client):
        from penstock.pipelines.jobs.fraud.rule_book import RuleBook

        _seed(client)
        rule = RuleBook(client, cluster.timeout_s).change(name, fields)
    if as_json:
        print_json({name: _rule_document(rule)})
    else:
        print_table(("rule", "kind", "on", "settings"), [_rule_row(name, rule)])


@rules_app.command("withdraw")
def withdraw_rule(
    ctx: typer.Context, name: RuleName, bootstrap_server: Bootstrap = None, as_json: Json = False
) -> None:
    """Take a rule out of use for good; `set RULE enabled=false` only rests it."""
    with _fraud(ctx, bootstrap_server) as (cluster, client):
        from penstock.pipelines.jobs.fraud.rule_book import RuleBook

        RuleBook(client, cluster.timeout_s).withdraw(name)
    if as_json:
        print_json({"withdrawn": name})
    else:
        print_line(f"withdrew {name}")


def _seed(client: dict[str, Any]) -> None:
    """The shipped rules first, where none were ever written: one change must not hide them."""
    from penstock.pipelines.jobs.fraud.job import seed_rules
    from penstock.pipelines.run.settings import RunSettings

    seed_rules(RunSettings(bootstrap_servers=client["bootstrap.servers"], kafka=client))


@app.command("generate")
def generate(
    ctx: typer.Context,
    rate: Annotated[float, typer.Option("--rate", "-r", min=0.1, help="Payments a second.")] = 1000,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="Stop after so many.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", "-s", min=0.0, help="Stop after so long.")
    ] = None,
    accounts: Annotated[int, typer.Option(min=1, help="How many accounts pay.")] = 10_000,
    partitions: Annotated[
        int, typer.Option("--partitions", "-p", min=1, help="Of the topic, if it is new.")
    ] = 4,
    fraud: Annotated[
        float | None, typer.Option(min=0.0, max=0.5, help="Thefts, as a share [default: 0.001]")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The same seed gives the same traffic [default: chance]")
    ] = None,
    bootstrap_server: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """Send labelled payments to `payments`, theft among them, until Ctrl-C or as told."""
    with _fraud(ctx, bootstrap_server) as (cluster, client):
        from penstock.pipelines.jobs.fraud.generator import Generator, ensure_topics
        from penstock.pipelines.jobs.fraud.incident import Mix
        from penstock.pipelines.jobs.fraud.traffic import Traffic

        chosen = random.SystemRandom().randrange(_RANGE) if seed is None else seed
        traffic = Traffic(
            chosen,
            accounts=accounts,
            partitions=ensure_topics(client, partitions, cluster.timeout_s),
            start_ms=time.time_ns() // 1_000_000,
            mix=Mix() if fraud is None else Mix(fraud=fraud),
        )
        generator, progress = Generator(client, traffic), Progress("generated")
        try:
            generator.run(
                rate,
                count=count,
                seconds=seconds,
                on_tick=lambda sent: _show_progress(progress, sent.payments),
            )
        except KeyboardInterrupt:
            pass
        finally:
            progress.clear()
    sent = generator.sent
    if as_json:
        print_json({"seed": chosen, "payments": sent.payments, "labels": sent.labels})
    else:
        per_s = sent.payments / max(sent.seconds, 1e-9)
        detail = f"{sent.labels:,} of them labelled; seed {chosen}"
        print_line(f"generated {sent.payments:,} payments at {per_s:,.0f}/s, {detail}")


def _show_progress(progress: Progress, payments: int) -> bool:
    progress.add(payments - progress.count)
    return True


@app.command("check")
def check(
    ctx: typer.Context,
    wait: Annotated[
        float, typer.Option("--wait", min=0.0, help="Seconds to let the detector catch up.")
    ] = 0.0,
    bootstrap_server: Bootstrap = None,
    as_json: Json = False,
) -> int:
    """Prove that every payment has exactly one verdict; exit code 1 if not."""
    report = _checked(ctx, bootstrap_server, wait, with_labels=False)
    if as_json:
        print_json(report.document())
    else:
        _print_report(report)
    return 0 if report.holds else 1


@app.command("accuracy")
def accuracy(
    ctx: typer.Context,
    wait: Annotated[
        float, typer.Option("--wait", min=0.0, help="Seconds to let the detector catch up.")
    ] = 0.0,
    bootstrap_server: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """Hold verdicts against the generator's labels: recall by kind of theft, false alarms."""
    found = _checked(ctx, bootstrap_server, wait, with_labels=True).accuracy
    if found is None:
        raise Failure("there are no labels: `penstock fraud generate` makes labelled payments")
    if as_json:
        print_json(found.document())
    else:
        _print_accuracy(found)


def _checked(
    ctx: typer.Context, bootstrap_server: str | None, wait_s: float, *, with_labels: bool
) -> Report:
    with _fraud(ctx, bootstrap_server) as (cluster, client):
        from penstock.pipelines.jobs.fraud.checker import Checker, wait_until_judged

        if wait_s:
            wait_until_judged(client, wait_s, timeout_s=cluster.timeout_s)
        progress = Progress("read")
        try:
            return Checker(
                client,
                with_labels=with_labels,
                timeout_s=cluster.timeout_s,
                on_read=progress.add,
            ).run()
        finally:
            progress.clear()


def _print_report(report: Report) -> None:
    rows = [
        (each.replace("_", " "), number)
        for each, number in report.document().items()
        if isinstance(number, int) and not isinstance(number, bool)
    ]
    print_table(("what", "count"), rows)
    if report.holds:
        print_line("every payment has exactly one verdict")
        return
    for what, count in report.violations.most_common():
        print_line(f"WRONG: {count:,} {what}, such as {'; '.join(report.examples[what][:2])}")


def _print_accuracy(found: Accuracy) -> None:
    rows = [
        (
            each.kind,
            len(each.incidents),
            len(each.caught),
            f"{each.recall:.1%}",
            each.payments,
            each.flagged,
        )
        for each in sorted(found.kinds.values(), key=lambda one: one.kind)
    ]
    print_table(("theft", "incidents", "caught", "recall", "payments", "flagged"), rows)
    print_line(
        f"false alarms: {found.false_positives:,} of {found.honest:,} honest payments, "
        f"{found.false_positive_rate:.4%}"
    )
    for rule, count in sorted(found.false_reasons.items()):
        print_line(f"  by {rule}: {count:,}")


@contextmanager
def _fraud(
    ctx: typer.Context, bootstrap_server: str | None
) -> Iterator[tuple[Cluster, dict[str, Any]]]:
    """The cluster and settings for clients of it; errors leave as one line."""
    try:
        import numpy  # noqa: F401
        import orjson  # noqa: F401
    except ImportError as error:
        raise Failure("the fraud detector needs more: pip install 'penstock[spark]'") from error
    from penstock.pipelines.error import PipelineError
    from penstock.pipelines.jobs.fraud.generator import GeneratorError
    from penstock.pipelines.jobs.fraud.rule import RuleError
    from penstock.pipelines.scan import UnreadableError

    cluster = cluster_of(ctx, bootstrap_server)
    try:
        with cluster.explaining():
            yield cluster, cluster.client_settings()
    except (UnreadableError, GeneratorError, RuleError, PipelineError) as error:
        raise Failure(str(error)) from error
