"""librdkafka's batch calls through ctypes, from the library that confluent-kafka carries.

A Python call per record would measure Python and not the broker. Here one call hands over a
thousand records, and delivery reports come back counted by the batch.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from ctypes import POINTER, Structure, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p
from pathlib import Path

import confluent_kafka

_PRODUCER = 0
_PARTITION_ANY = -1
_COPY = 0x2
_EVENT_DELIVERY = 0x1
_EVENT_ERROR = 0x8
_CONF_OK = 0
_QUEUE_FULL = -184


class _Message(Structure):
    _fields_ = (
        ("err", c_int),
        ("topic", c_void_p),
        ("partition", c_int32),
        ("payload", c_void_p),
        ("length", c_size_t),
        ("key", c_void_p),
        ("key_length", c_size_t),
        ("offset", c_int64),
        ("private", c_void_p),
    )


def _load() -> ctypes.CDLL:
    package = Path(confluent_kafka.__file__).parent
    folders = (package.with_name("confluent_kafka.libs"), package / ".dylibs")
    libraries = [path for folder in folders for path in folder.glob("librdkafka*")]
    if not libraries:
        raise RuntimeError("confluent-kafka is installed without its own librdkafka")
    library = ctypes.CDLL(str(libraries[0]))
    for name in ("conf_new", "new", "topic_new", "queue_get_main", "queue_poll"):
        getattr(library, f"rd_kafka_{name}").restype = c_void_p
    library.rd_kafka_event_message_count.restype = c_size_t
    library.rd_kafka_event_error_string.restype = c_char_p
    library.rd_kafka_produce_batch.argtypes = [c_void_p, c_int32, c_int, POINTER(_Message), c_int]
    return library


class BatchProducer:
    """Sends one payload over and over to one topic, as fast as the library takes it."""

    def __init__(self, topic: str, settings: Mapping[str, str], payload: bytes, batch: int) -> None:
        self._rd = _load()
        self._producer = c_void_p(self._new(settings))
        self._topic = c_void_p(
            self._rd.rd_kafka_topic_new(self._producer, topic.encode(), c_void_p(None))
        )
        self._queue = c_void_p(self._rd.rd_kafka_queue_get_main(self._producer))
        self._payload = ctypes.create_string_buffer(payload, len(payload))
        self._messages = (_Message * batch)()
        for message in self._messages:
            message.payload = ctypes.addressof(self._payload)
            message.length = len(payload)

    def _new(self, settings: Mapping[str, str]) -> int:
        error = ctypes.create_string_buffer(512)
        conf = c_void_p(self._rd.rd_kafka_conf_new())
        for key, value in settings.items():
            code = self._rd.rd_kafka_conf_set(conf, key.encode(), value.encode(), error, 512)
            if code != _CONF_OK:
                raise ValueError(error.value.decode())
        self._rd.rd_kafka_conf_set_events(conf, _EVENT_DELIVERY | _EVENT_ERROR)
        handle = self._rd.rd_kafka_new(_PRODUCER, conf, error, 512)
        if not handle:
            raise ValueError(error.value.decode())
        return int(handle)

    def send(self, count: int) -> int:
        """Hand over up to `count` records; how many the queue had room for."""
        wanted = min(count, len(self._messages))
        taken: int = self._rd.rd_kafka_produce_batch(
            self._topic, _PARTITION_ANY, _COPY, self._messages, wanted
        )
        if taken < wanted:
            errors = {message.err for message in self._messages[:wanted]} - {0, _QUEUE_FULL}
            if errors:
                raise RuntimeError(f"librdkafka refused records with error {errors}")
        return taken

    def poll(self, timeout_ms: int) -> int:
        """Wait for delivery reports; how many records they cover, delivered or not."""
        event = c_void_p(self._rd.rd_kafka_queue_poll(self._queue, timeout_ms))
        if not event:
            return 0
        try:
            if self._rd.rd_kafka_event_type(event) == _EVENT_ERROR:
                return 0
            return int(self._rd.rd_kafka_event_message_count(event))
        finally:
            self._rd.rd_kafka_event_destroy(event)

    def close(self) -> None:
        self._rd.rd_kafka_queue_destroy(self._queue)
        self._rd.rd_kafka_topic_destroy(self._topic)
        self._rd.rd_kafka_destroy(self._producer)
