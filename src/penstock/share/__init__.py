"""Share groups (KIP-932) below their members, as pure machines.

`Window` is what a partition's leader knows of the records that a group has under way.
`ShareShard` keeps, for one partition of `__share_group_state`, what must outlive that leader.
Neither touches a clock, a socket or a disk.
"""

from penstock.share.acknowledgement import Acknowledgement, AcknowledgeType, acknowledgements
from penstock.share.batch import StateBatch
from penstock.share.key import ShareKey
from penstock.share.record import ShareRecord, decode_record, encode_record
from penstock.share.shard import ShareShard
from penstock.share.state import RecordState
from penstock.share.throttle import DeliveryThrottle
from penstock.share.window import Acquired, LogBatch, Window

__all__ = [
    "AcknowledgeType",
    "Acknowledgement",
    "Acquired",
    "DeliveryThrottle",
    "LogBatch",
    "RecordState",
    "ShareKey",
    "ShareRecord",
    "ShareShard",
    "StateBatch",
    "Window",
    "acknowledgements",
    "decode_record",
    "encode_record",
]
