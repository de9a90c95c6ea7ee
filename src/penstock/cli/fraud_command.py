"""`penstock fraud`: what is typed, and what is printed. The detector itself runs as a pipeline."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.argument import INT_MAX, Json, cluster_of, quiet_app
from penstock.cli.cluster import Cluster, key_values
from penstock.cli.extra import need_modules
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.output import print_json, print_line, print_table
from penstock.cli.progress import Progress

if TYPE_CHECKING:
    from penstock.pipelines.jobs.fraud.accuracy import Accuracy
    from penstock.pipelines.jobs.fraud.checker import Report
    from penstock.pipelines.jobs.fraud.rule import Rule

app = quiet_app("The fraud detector: rules, generate, check, accuracy.")
rules_app = quiet_app("Rules: list, set, withdraw.")
app.add_typer(rules_app, name="rules")

_RANGE = 1 << 32
RuleName = Annotated[
    str, typer.Argument(metavar="RULE", show_default=False, help="Name of the rule.")
]


@rules_app.command("list")
def list_rules(ctx: typer.Context, as_json: Json = False) -> None:
    """List the rules."""
    with _fraud(ctx) as (cluster, client):
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
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", show_default=False, help="Settings of the rule."),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--kind", "-k", metavar="KIND", help="Kind of the rule. A new one needs it."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Add a rule, or change one.

    A running detector takes the change up within two seconds.

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
    with _fraud(ctx) as (cluster, client):
        from penstock.pipelines.jobs.fraud.rule_book import RuleBook

        _seed(client)
        rule = RuleBook(client, cluster.timeout_s).change(name, fields)
    if as_json:
        print_json({name: _rule_document(rule)})
    else:
        print_table(("rule", "kind", "on", "settings"), [_rule_row(name, rule)])


@rules_app.command("withdraw")
def withdraw_rule(ctx: typer.Context, name: RuleName, as_json: Json = False) -> None:
    """Remove a rule. `set RULE enabled=false` only turns it off."""
    with _fraud(ctx) as (cluster, client):
        from penstock.pipelines.jobs.fraud.rule_book import RuleBook

        RuleBook(client, cluster.timeout_s).withdraw(name)
    if as_json:
        print_json({"withdrawn": name})
    else:
        print_line(f"withdrew {name}")


def _seed(client: dict[str, Any]) -> None:
    """The shipped rules first, where none were ever written: one change must not hide them."""
    from penstock.pipelines.jobs.fraud.job import seed_rules
    from penstock.pipelines.run_settings import RunSettings

    seed_rules(RunSettings(bootstrap_servers=client["bootstrap.servers"], kafka=client))


@app.command("generate")
def generate(
    ctx: typer.Context,
    rate: Annotated[
        float, typer.Option("--rate", "-r", metavar="N", min=0.1, help="Payments a second.")
    ] = 1000,
    count: Annotated[
        int | None, typer.Option("--count", "-n", metavar="N", min=1, help="Stop after N payments.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", "-s", metavar="N", min=0.0, help="Stop after N seconds."),
    ] = None,
    accounts: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000_000, help="How many accounts pay.")
    ] = 10_000,
    partitions: Annotated[
        int,
        typer.Option(
            "--partitions",
            "-p",
            metavar="N",
            min=1,
            max=INT_MAX,
            help="Partitions of the topic, if it is new.",
        ),
    ] = 4,
    fraud: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", min=0.0, max=0.5, show_default="0.001", help="Share of thefts."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, show_default="random", help="The same seed gives the same payments."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Send labelled payments, thefts among them, until Ctrl-C."""
    with _fraud(ctx) as (cluster, client):
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
        float,
        typer.Option("--wait", metavar="SECONDS", min=0.0, help="First let the detector catch up."),
    ] = 0.0,
    as_json: Json = False,
) -> int:
    """Check that every payment has exactly one verdict.

    The exit code is 1 if not.
    """
    report = _checked(ctx, wait, with_labels=False)
    if as_json:
        print_json(report.document())
    else:
        _print_report(report)
    return 0 if report.holds else 1


@app.command("accuracy")
def accuracy(
    ctx: typer.Context,
    wait: Annotated[
        float,
        typer.Option("--wait", metavar="SECONDS", min=0.0, help="First let the detector catch up."),
    ] = 0.0,
    as_json: Json = False,
) -> None:
    """Compare verdicts with labels: recall and false alarms."""
    found = _checked(ctx, wait, with_labels=True).accuracy
    if found is None:
        raise Failure("there are no labels: `penstock fraud generate` makes labelled payments")
    if as_json:
        print_json(found.document())
    else:
        _print_accuracy(found)


def _checked(ctx: typer.Context, wait_s: float, *, with_labels: bool) -> Report:
    with _fraud(ctx) as (cluster, client):
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
def _fraud(ctx: typer.Context) -> Iterator[tuple[Cluster, dict[str, Any]]]:
    """The cluster and settings for clients of it; errors leave as one line."""
    need_modules("numpy", "orjson")
    from penstock.pipelines.error import PipelineError
    from penstock.pipelines.jobs.fraud.generator import GeneratorError
    from penstock.pipelines.jobs.fraud.rule import RuleError
    from penstock.pipelines.scan import UnreadableError

    cluster = cluster_of(ctx)
    try:
        with cluster.explaining():
            yield cluster, cluster.client_settings()
    except (UnreadableError, GeneratorError, RuleError, PipelineError) as error:
        raise Failure(str(error)) from error
