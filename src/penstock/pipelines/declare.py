"""Declaring a pipeline: a function of its inputs, its sources and sinks. Never runs anything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

from penstock.pipelines.breaker import Breaker
from penstock.pipelines.error import DeclarationError
from penstock.pipelines.transforms.dead_letter import dead_letter_topic, late_topic
from penstock.pipelines.transforms.expectation import Expectation, require_different

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.pipelines.run.runner import Running
    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.sinks.contract import Sink
    from penstock.pipelines.sources.table import TableSource
    from penstock.pipelines.sources.topic import TopicSource

    Function = Callable[..., "DataFrame | Mapping[str, DataFrame]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    name: str
    function: Function
    inputs: Mapping[str, TopicSource]
    outputs: Mapping[str, Sink]
    tables: Mapping[str, TableSource] = field(default_factory=dict)
    dead_letters: str
    """The topic that takes records that do not decode."""
    late: str
    """The topic that takes rows older than the declared bound."""
    expect: Mapping[str, Sequence[Expectation]] = field(default_factory=dict)
    """What the rows of an output are to satisfy, by output."""
    apart: frozenset[str] = frozenset()
    """Outputs that read their inputs by themselves, whatever the others read."""
    breaker: Breaker = field(default_factory=Breaker)
    """When so much goes to the dead letters that the run stops."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Spark settings that this pipeline wants."""

    def __call__(self, *arguments: Any, **named: Any) -> DataFrame | Mapping[str, DataFrame]:
        """The function itself, for tests with plain frames."""
        return self.function(*arguments, **named)

    @property
    def lake(self) -> bool:
        """Whether the session must know Delta."""
        return any(getattr(each, "lake", False) for each in self.outputs.values())

    def beside(self, name: str | None = None, outputs: Mapping[str, str] | None = None) -> Pipeline:
        """The same under another name, with its own checkpoints and group; and outputs that go to
        another topic, table or folder. Dead letters and late rows go where they went."""
        moved = {
            output: moved_sink(self.outputs[output], output, where)
            if output in self.outputs
            else no_output(self.name, output)
            for output, where in (outputs or {}).items()
        }
        return replace(self, name=name or self.name, outputs={**self.outputs, **moved})

    def start(self, spark: SparkSession, settings: RunSettings) -> Running:
        from penstock.pipelines.run.pipeline import start_pipeline

        return start_pipeline(self, spark, settings)


def pipeline(
    *,
    inputs: Mapping[str, TopicSource],
    outputs: Mapping[str, Sink],
    tables: Mapping[str, TableSource] | None = None,
    name: str | None = None,
    dead_letters: str | None = None,
    late: str | None = None,
    expect: Mapping[str, Sequence[Expectation]] | None = None,
    apart: Collection[str] = (),
    breaker: Breaker | None = None,
    options: Mapping[str, str] | None = None,
) -> Callable[[Function], Pipeline]:
    """Decorate a function of the inputs and tables, by name, that returns its output or outputs."""

    def declare(function: Function) -> Pipeline:
        own = name or function.__name__.replace("_", "-")
        for output in apart:
            if output not in outputs:
                no_output(own, output)
        for output in outputs:
            require_output_name(own, output)
        for output, rules in (expect or {}).items():
            _require_possible(own, output, outputs, rules)
            if output in inputs:
                # They are counted by the name of what they are about.
                both = f"input and output {output} of {own}"
                require_different(both, [*inputs[output].expect, *rules])
        return Pipeline(
            name=own,
            function=function,
            inputs=dict(inputs),
            outputs=dict(outputs),
            tables=dict(tables or {}),
            dead_letters=dead_letters or dead_letter_topic(own),
            late=late or late_topic(own),
            expect=dict(expect or {}),
            apart=frozenset(apart),
            breaker=breaker or Breaker(),
            options=dict(options or {}),
        )

    return declare


def _require_possible(
    pipeline: str, output: str, outputs: Mapping[str, Sink], rules: Sequence[Expectation]
) -> None:
    if output not in outputs:
        raise DeclarationError(f"{pipeline} expects something of {output}, which is no output")
    require_different(f"output {output} of {pipeline}", rules)
    for each in rules:
        if each.action == "dead-letter":
            raise DeclarationError(
                f"output {output} of {pipeline}: expectation {each.name} cannot send a row to the"
                " dead letters: the record it came from is not known there; declare it on the"
                " source, or filter in the function"
            )


def require_output_name(pipeline: str, output: str) -> None:
    """Behind the pipeline's name, and a dot, it names checkpoints, fences and producers: two
    outputs must not come to one name."""
    if not output or output.startswith("@") or "." in output or "/" in output:
        raise DeclarationError(
            f"output {output!r} of {pipeline}: a name has no dots or slashes, and no @ in front"
        )


def moved_sink(sink: Any, output: str, where: str) -> Sink:
    """The sink with another place for its rows, under whatever name it has that."""
    for attribute in ("topic", "table", "path"):
        if hasattr(sink, attribute):
            moved: Sink = replace(sink, **{attribute: where})
            return moved
    raise DeclarationError(f"output {output} cannot be sent to another place")


def no_output(pipeline: str, output: str) -> NoReturn:
    raise DeclarationError(f"{pipeline} has no output {output}")
