"""Numbered records by their log. Written by tools/generate_protocol.py."""

from __future__ import annotations

from penstock.protocol.record_type import RecordType

METADATA = (
    RecordType(0, "RegisterBrokerRecord", "register_broker_record", 0, 4),
    RecordType(1, "UnregisterBrokerRecord", "unregister_broker_record", 0, 0),
    RecordType(2, "TopicRecord", "topic_record", 0, 0),
    RecordType(3, "PartitionRecord", "partition_record", 0, 2),
    RecordType(4, "ConfigRecord", "config_record", 0, 0),
    RecordType(5, "PartitionChangeRecord", "partition_change_record", 0, 2),
    RecordType(7, "FenceBrokerRecord", "fence_broker_record", 0, 0),
    RecordType(8, "UnfenceBrokerRecord", "unfence_broker_record", 0, 0),
    RecordType(9, "RemoveTopicRecord", "remove_topic_record", 0, 0),
    RecordType(10, "DelegationTokenRecord", "delegation_token_record", 0, 0),
    RecordType(11, "UserScramCredentialRecord", "user_scram_credential_record", 0, 0),
    RecordType(12, "FeatureLevelRecord", "feature_level_record", 0, 0),
    RecordType(14, "ClientQuotaRecord", "client_quota_record", 0, 0),
    RecordType(15, "ProducerIdsRecord", "producer_ids_record", 0, 0),
    RecordType(17, "BrokerRegistrationChangeRecord", "broker_registration_change_record", 0, 3),
    RecordType(18, "AccessControlEntryRecord", "access_control_entry_record", 0, 0),
    RecordType(19, "RemoveAccessControlEntryRecord", "remove_access_control_entry_record", 0, 0),
    RecordType(20, "NoOpRecord", "no_op_record", 0, 0),
    RecordType(21, "ZkMigrationStateRecord", "zk_migration_state_record", 0, 0),
    RecordType(22, "RemoveUserScramCredentialRecord", "remove_user_scram_credential_record", 0, 0),
    RecordType(23, "BeginTransactionRecord", "begin_transaction_record", 0, 0),
    RecordType(24, "EndTransactionRecord", "end_transaction_record", 0, 0),
    RecordType(25, "AbortTransactionRecord", "abort_transaction_record", 0, 0),
    RecordType(26, "RemoveDelegationTokenRecord", "remove_delegation_token_record", 0, 0),
    RecordType(27, "RegisterControllerRecord", "register_controller_record", 0, 0),
    RecordType(28, "ClearElrRecord", "clear_elr_record", 0, 0),
)
GROUP_KEYS = (
    RecordType(0, "LegacyOffsetCommitKey", "legacy_offset_commit", 0, 0),
    RecordType(1, "OffsetCommitKey", "offset_commit", 0, 0),
    RecordType(2, "GroupMetadataKey", "group_metadata", 0, 0),
    RecordType(3, "ConsumerGroupMetadataKey", "consumer_group_metadata", 0, 0),
    RecordType(4, "ConsumerGroupPartitionMetadataKey", "consumer_group_partition_metadata", 0, 0),
    RecordType(5, "ConsumerGroupMemberMetadataKey", "consumer_group_member_metadata", 0, 0),
    RecordType(
        6,
        "ConsumerGroupTargetAssignmentMetadataKey",
        "consumer_group_target_assignment_metadata",
        0,
        0,
    ),
    RecordType(
        7, "ConsumerGroupTargetAssignmentMemberKey", "consumer_group_target_assignment_member", 0, 0
    ),
    RecordType(
        8,
        "ConsumerGroupCurrentMemberAssignmentKey",
        "consumer_group_current_member_assignment",
        0,
        0,
    ),
    RecordType(10, "ShareGroupMemberMetadataKey", "share_group_member_metadata", 0, 0),
    RecordType(11, "ShareGroupMetadataKey", "share_group_metadata", 0, 0),
    RecordType(
        12, "ShareGroupTargetAssignmentMetadataKey", "share_group_target_assignment_metadata", 0, 0
    ),
    RecordType(
        13, "ShareGroupTargetAssignmentMemberKey", "share_group_target_assignment_member", 0, 0
    ),
    RecordType(
        14, "ShareGroupCurrentMemberAssignmentKey", "share_group_current_member_assignment", 0, 0
    ),
    RecordType(
        15, "ShareGroupStatePartitionMetadataKey", "share_group_state_partition_metadata", 0, 0
    ),
    RecordType(16, "ConsumerGroupRegularExpressionKey", "consumer_group_regular_expression", 0, 0),
    RecordType(17, "StreamsGroupMetadataKey", "streams_group_metadata", 0, 0),
    RecordType(19, "StreamsGroupMemberMetadataKey", "streams_group_member_metadata", 0, 0),
    RecordType(
        20,
        "StreamsGroupTargetAssignmentMetadataKey",
        "streams_group_target_assignment_metadata",
        0,
        0,
    ),
    RecordType(
        21, "StreamsGroupTargetAssignmentMemberKey", "streams_group_target_assignment_member", 0, 0
    ),
    RecordType(
        22,
        "StreamsGroupCurrentMemberAssignmentKey",
        "streams_group_current_member_assignment",
        0,
        0,
    ),
    RecordType(23, "StreamsGroupTopologyKey", "streams_group_topology", 0, 0),
)
GROUP_VALUES = (
    RecordType(0, "LegacyOffsetCommitValue", "legacy_offset_commit", 0, 0),
    RecordType(1, "OffsetCommitValue", "offset_commit", 0, 4),
    RecordType(2, "GroupMetadataValue", "group_metadata", 0, 4),
    RecordType(3, "ConsumerGroupMetadataValue", "consumer_group_metadata", 0, 0),
    RecordType(4, "ConsumerGroupPartitionMetadataValue", "consumer_group_partition_metadata", 0, 0),
    RecordType(5, "ConsumerGroupMemberMetadataValue", "consumer_group_member_metadata", 0, 0),
    RecordType(
        6,
        "ConsumerGroupTargetAssignmentMetadataValue",
        "consumer_group_target_assignment_metadata",
        0,
        0,
    ),
    RecordType(
        7,
        "ConsumerGroupTargetAssignmentMemberValue",
        "consumer_group_target_assignment_member",
        0,
        0,
    ),
    RecordType(
        8,
        "ConsumerGroupCurrentMemberAssignmentValue",
        "consumer_group_current_member_assignment",
        0,
        0,
    ),
    RecordType(10, "ShareGroupMemberMetadataValue", "share_group_member_metadata", 0, 0),
    RecordType(11, "ShareGroupMetadataValue", "share_group_metadata", 0, 0),
    RecordType(
        12,
        "ShareGroupTargetAssignmentMetadataValue",
        "share_group_target_assignment_metadata",
        0,
        0,
    ),
    RecordType(
        13, "ShareGroupTargetAssignmentMemberValue", "share_group_target_assignment_member", 0, 0
    ),
    RecordType(
        14, "ShareGroupCurrentMemberAssignmentValue", "share_group_current_member_assignment", 0, 0
    ),
    RecordType(
        15, "ShareGroupStatePartitionMetadataValue", "share_group_state_partition_metadata", 0, 0
    ),
    RecordType(
        16, "ConsumerGroupRegularExpressionValue", "consumer_group_regular_expression", 0, 0
    ),
    RecordType(17, "StreamsGroupMetadataValue", "streams_group_metadata", 0, 0),
    RecordType(19, "StreamsGroupMemberMetadataValue", "streams_group_member_metadata", 0, 0),
    RecordType(
        20,
        "StreamsGroupTargetAssignmentMetadataValue",
        "streams_group_target_assignment_metadata",
        0,
        0,
    ),
    RecordType(
        21,
        "StreamsGroupTargetAssignmentMemberValue",
        "streams_group_target_assignment_member",
        0,
        0,
    ),
    RecordType(
        22,
        "StreamsGroupCurrentMemberAssignmentValue",
        "streams_group_current_member_assignment",
        0,
        0,
    ),
    RecordType(23, "StreamsGroupTopologyValue", "streams_group_topology", 0, 0),
)
TRANSACTION_KEYS = (RecordType(0, "TransactionLogKey", "transaction_log", 0, 0),)
TRANSACTION_VALUES = (RecordType(0, "TransactionLogValue", "transaction_log", 0, 1),)
SHARE_KEYS = (
    RecordType(0, "ShareSnapshotKey", "share_snapshot", 0, 0),
    RecordType(1, "ShareUpdateKey", "share_update", 0, 0),
)
SHARE_VALUES = (
    RecordType(0, "ShareSnapshotValue", "share_snapshot", 0, 0),
    RecordType(1, "ShareUpdateValue", "share_update", 0, 0),
)
REMOTE_LOG = (
    RecordType(0, "RemoteLogSegmentMetadataRecord", "remote_log_segment_metadata_record", 0, 0),
    RecordType(
        1, "RemoteLogSegmentMetadataUpdateRecord", "remote_log_segment_metadata_update_record", 0, 0
    ),
    RecordType(
        2, "RemotePartitionDeleteMetadataRecord", "remote_partition_delete_metadata_record", 0, 0
    ),
    RecordType(
        3,
        "RemoteLogSegmentMetadataSnapshotRecord",
        "remote_log_segment_metadata_snapshot_record",
        0,
        0,
    ),
)
