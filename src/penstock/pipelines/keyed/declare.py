"""Declaring a keyed pipeline: a step for each event, source and outputs. Never runs anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import orjson

from penstock.pipelines.breaker import Breaker
from penstock.pipelines.declare import moved_sink, no_output, require_output_name
from penstock.pipelines.error import DeclarationError
from penstock.pipelines.keyed.event import Event, Output, Step
from penstock.pipelines.keyed.sink_output import SinkOutput, sink_topic
from penstock.pipelines.retry import Retry
from penstock.pipelines.sinks.topic import TopicSink
from penstock.pipelines.transforms.dead_letter import dead_letter_topic
from penstock.pipelines.transforms.decoder import Tombstones

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from penstock.pipelines.run.runner import Running
    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.sources.table import TableSource
    from penstock.pipelines.sources.topic import TopicSource

StateIn = Literal["topic", "spark"]
"""Where the states are: a compacted topic, or Spark's own state store in the checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedPipeline:
    name: str
    step: Step
    source: TopicSource
    outputs: Mapping[str, str]
    """Topics by the names that the step gives its outputs."""
    sinks: Mapping[str, SinkOutput] = field(default_factory=dict)
    """Of these outputs, those whose topic is on the way to a sink."""
    decode: Callable[[bytes], Any] | None = None
    """An event's value from the record's, instead of the source's decoder; whatever it raises
    makes the record a dead letter."""
    tombstones: Tombstones = "dead-letter"
    """What becomes of a record without a value: a dead letter, nothing, or an event without one."""
    tables: Mapping[str, TableSource] = field(default_factory=dict)
    dead_letters: str
    state_in: StateIn = "topic"
    state: str
    """The compacted topic that holds the states and the positions, where a topic does."""
    encode_state: Callable[[Any], bytes] = orjson.dumps
    decode_state: Callable[[bytes], Any] = orjson.loads
    counters: tuple[str, ...] = ("late",)
    """Outputs that are only counted, and shown with the progress."""
    retry: Retry = field(default_factory=Retry)
    breaker: Breaker = field(default_factory=Breaker)
    """When so much goes to the dead letters that the run stops."""
    prepare: Callable[[RunSettings], None] | None = None
    """Called before each start, in the driver: to make topics or fill tables."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Spark settings that this pipeline wants."""

    @property
    def topic(self) -> str:
        return self.source.topics[0]

    def __call__(
        self, state: Any, event: Event, tables: Mapping[str, Any]
    ) -> tuple[Any, Sequence[Output]]:
        """The step itself, for tests."""
        return self.step(state, event, tables)

    def with_state_in(self, place: str) -> KeyedPipeline:
        """The same with its states elsewhere."""
        return replace(self, state_in=_place(place))

    def beside(
        self, name: str | None = None, outputs: Mapping[str, str] | None = None
    ) -> KeyedPipeline:
        """The same under another name, with its own states, positions and group; and outputs that
        go elsewhere. Dead letters go where they went."""
        topics, sinks = dict(self.outputs), dict(self.sinks)
        for output, where in (outputs or {}).items():
            if output not in topics:
                no_output(self.name, output)
            if output in sinks:
                moved = moved_sink(sinks[output].sink, output, where)
                sinks[output] = replace(sinks[output], sink=moved)
            else:
                topics[output] = where
        if name is None:
            return replace(self, outputs=topics, sinks=sinks)
        # What is on its way to a sink is this run's alone.
        topics |= {output: sink_topic(name, output) for output in sinks}
        return replace(self, name=name, state=state_topic(name), outputs=topics, sinks=sinks)

    @property
    def lake(self) -> bool:
        """Whether the session must know Delta."""
        return any(getattr(each.sink, "lake", False) for each in self.sinks.values())

    def start(self, spark: SparkSession, settings: RunSettings) -> Running:
        if not self.sinks:
            return self._judge(spark, settings)
        from penstock.pipelines.keyed.sink_run import start_with_sinks

        return start_with_sinks(self, spark, settings, lambda: self._judge(spark, settings))

    def _judge(self, spark: SparkSession, settings: RunSettings) -> Running:
        if self.state_in == "spark":
            from penstock.pipelines.keyed.store import start_in_store

            return start_in_store(self, spark, settings)
        from penstock.pipelines.keyed.run import start_keyed

        return start_keyed(self, spark, settings)


def keyed(
    *,
    source: TopicSource,
    outputs: Mapping[str, str | TopicSink | SinkOutput],
    tables: Mapping[str, TableSource] | None = None,
    name: str | None = None,
    decode: Callable[[bytes], Any] | None = None,
    tombstones: Tombstones | None = None,
    dead_letters: str | None = None,
    state_in: StateIn = "topic",
    state: str | None = None,
    **more: Any,
) -> Callable[[Step], KeyedPipeline]:
    """Decorate a step: `(state, event, tables) -> (new state, [(output, key, value), ...])`."""
    if source.pattern is not None or len(source.topics) != 1:
        raise DeclarationError("a keyed pipeline has one source topic: name just one")
    if source.each is not None:
        raise DeclarationError("a keyed pipeline calls its step for each event: leave out each=")
    if source.expect and decode is not None:
        raise DeclarationError(
            "expectations are about the columns that the source's decoder makes: give the source"
            " that decoder, and leave out decode="
        )
    if source.event_time is not None:
        raise DeclarationError(
            "in a keyed pipeline time is the step's own, which sees every event, late or not:"
            " leave out event_time= and lateness="
        )

    def declare(step: Step) -> KeyedPipeline:
        own = name or getattr(step, "__name__", "keyed").replace("_", "-")
        for output in outputs:
            require_output_name(own, output)
        return KeyedPipeline(
            name=own,
            step=step,
            source=source,
            outputs={each: _topic(own, each, where) for each, where in outputs.items()},
            sinks={each: to for each, to in outputs.items() if isinstance(to, SinkOutput)},
            tables=dict(tables or {}),
            decode=decode,
            tombstones=tombstones or ("dead-letter" if decode else source.decode.tombstones),
            dead_letters=dead_letters or dead_letter_topic(own),
            state_in=_place(state_in),
            state=state or state_topic(own),
            **more,
        )

    return declare


def state_topic(pipeline: str) -> str:
    return f"{pipeline}.state"


def _place(asked: str) -> StateIn:
    if asked not in get_args(StateIn):
        raise DeclarationError(f"states are in a topic or in spark, not in {asked!r}")
    return cast(StateIn, asked)


def _topic(pipeline: str, output: str, where: str | TopicSink | SinkOutput) -> str:
    if isinstance(where, str):
        return where
    if isinstance(where, SinkOutput):
        return where.topic or sink_topic(pipeline, output)
    if not isinstance(where, TopicSink):
        raise DeclarationError(
            f"output {output}: say what rows the sink is to get, with keyed.into(…, decode=…)"
        )
    if where != TopicSink(where.topic):
        raise DeclarationError(
            f"output {output}: a keyed pipeline writes its topics in transactions of its own: say"
            f" sinks.topic({where.topic!r}) and no more"
        )
    return where.topic
