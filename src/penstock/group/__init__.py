"""Consumer groups and their offsets, as a pure machine.

`GroupShard` decides for one partition of `__consumer_offsets`. It never touches a clock, a socket
or a disk: time comes as an argument, randomness as a function, and what shall be kept goes out as
records.
"""

from penstock.group.caller import Caller
from penstock.group.config import GroupConfig
from penstock.group.consumer.topic import FixedTopics, Topic, TopicView
from penstock.group.load import RawRecord, RawTxnRecord, last_of_each_key
from penstock.group.offset.commit import commit_refused, txn_commit_refused
from penstock.group.offset.fetch_form import fetch_response, fetched_groups
from penstock.group.record import NO_PRODUCER, GroupEntry, GroupRecord, TxnMarker
from penstock.group.shard import GroupShard
from penstock.group.share.coordinator import Beat
from penstock.group.wire import RecordBytes, decode_record, encode_record

__all__ = [
    "NO_PRODUCER",
    "Beat",
    "Caller",
    "FixedTopics",
    "GroupConfig",
    "GroupEntry",
    "GroupRecord",
    "GroupShard",
    "RawRecord",
    "RawTxnRecord",
    "RecordBytes",
    "Topic",
    "TopicView",
    "TxnMarker",
    "commit_refused",
    "decode_record",
    "encode_record",
    "fetch_response",
    "fetched_groups",
    "last_of_each_key",
    "txn_commit_refused",
]
