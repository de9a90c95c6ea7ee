"""One sentence for each setting that deserves one. Loaded only when somebody reads them."""

from __future__ import annotations

from typing import Final

TOPIC_SENTENCES: Final = {
    "cleanup.policy": (
        "What happens to old data: delete drops whole segments by age and size, compact keeps the "
        "latest record of every key, both together do both, and an empty list keeps everything."
    ),
    "compression.gzip.level": "How hard gzip tries where this node compresses; -1 is its default.",
    "compression.lz4.level": "How hard lz4 tries where this node compresses; 9 means fast.",
    "compression.type": (
        "The codec that batches are stored in. With producer they stay as they were sent; any "
        "other value has batches of another codec recompressed."
    ),
    "compression.zstd.level": "How hard zstd tries where this node compresses.",
    "delete.retention.ms": (
        "How long compaction keeps a tombstone, so that readers of a compacted topic learn of "
        "the deletion."
    ),
    "file.delete.delay.ms": "How long a file of a dropped segment stays before it is removed.",
    "flush.messages": (
        "After how many records data is synced to disk. With 1 every acknowledgement waits for a "
        "sync, which it shares with all that arrived meanwhile; the highest value turns waiting "
        "off and leaves it to the operating system."
    ),
    "flush.ms": "The longest time that data stays unsynced.",
    "follower.replication.throttled.replicas": (
        "Replicas whose fetching is throttled while partitions move, or * for all."
    ),
    "index.interval.bytes": "How many bytes of the log lie between two entries of its indexes.",
    "leader.replication.throttled.replicas": (
        "Replicas that are served throttled while partitions move, or * for all."
    ),
    "local.retention.bytes": (
        "How many bytes of a tiered partition stay on the local disk; -2 means retention.bytes."
    ),
    "local.retention.ms": (
        "How long data of a tiered partition stays on the local disk; -2 means retention.ms."
    ),
    "max.compaction.lag.ms": "The longest time that a record waits to be compacted.",
    "max.message.bytes": "The largest batch that is accepted, compressed as it was sent.",
    "message.timestamp.after.max.ms": (
        "How far ahead of the broker's clock a record's time may be before it is refused."
    ),
    "message.timestamp.before.max.ms": (
        "How far behind the broker's clock a record's time may be before it is refused."
    ),
    "message.timestamp.type": (
        "Whether records keep the time their producer gave them or get the time of the append."
    ),
    "min.cleanable.dirty.ratio": (
        "The share of a log that has to be uncompacted before compaction looks at it."
    ),
    "min.compaction.lag.ms": "How long a record is safe from compaction after it was written.",
    "min.insync.replicas": (
        "How many replicas have to be in sync for a write with acks=all to be accepted."
    ),
    "penstock.record.check": (
        "Whether a leader reads the records of a batch before it takes it: where that costs little "
        "(quick: uncompressed batches, by compiled code), always, or never. Headers are always "
        "checked, and records where the topic is compacted or has a codec or an oldest time set."
    ),
    "preallocate": "Reserves the whole size of a segment file when it is created.",
    "remote.log.copy.disable": "Stops copying segments of this topic to tiered storage.",
    "remote.log.delete.on.disable": "Removes the tiered data when tiering is turned off.",
    "remote.storage.enable": "Moves closed segments to tiered storage.",
    "retention.bytes": (
        "The size a partition may reach before its oldest segments go; -1 sets no limit."
    ),
    "retention.ms": "How long records are kept at least before their segment goes; -1 is forever.",
    "segment.bytes": "The size at which a segment file is closed and the next one begun.",
    "segment.index.bytes": "The size an index file may reach before its segment is closed.",
    "segment.jitter.ms": "A random time taken off segment.ms, so that not all topics roll at once.",
    "segment.ms": "The age at which a segment is closed, be it full or not.",
    "unclean.leader.election.enable": (
        "Lets a replica that is behind become leader when no other is left, losing records."
    ),
}

BROKER_SENTENCES: Final = {
    "advertised.listeners": (
        "The addresses that clients are told to connect to; without it, those of listeners."
    ),
    "authorizer.class.name": (
        "Kafka's StandardAuthorizer has every request checked against access control entries; "
        "empty lets everybody do everything. super.users and allow.everyone.if.no.acl.found go "
        "with it."
    ),
    "alter.config.policy.class.name": (
        "A class in Python that is asked before settings change (docs/security.md)."
    ),
    "auto.create.topics.enable": "Creates a topic when a client asks for one that is missing.",
    "auto.leader.rebalance.enable": (
        "Has partitions led by the first of their replicas again once it is back in sync."
    ),
    "background.threads": "Threads for background work of a Java broker.",
    "broker.heartbeat.interval.ms": "How often a broker tells the controller that it is there.",
    "broker.id": "The older name of node.id.",
    "broker.rack": "Where the broker stands; replicas are spread over different racks.",
    "broker.session.timeout.ms": (
        "After how long without a heartbeat a broker is fenced: others lead what it led."
    ),
    "config.providers": (
        "Names of providers; `config.providers.NAME.class` says which, and `${NAME:path:key}` in "
        "any other setting is then filled in from a file, a directory or the environment."
    ),
    "connections.max.idle.ms": "After how long without a request a connection is closed.",
    "controller.quota.window.num": (
        "How many windows controller_mutation_rate is summed over: what may be made at once."
    ),
    "controller.quota.window.size.seconds": "How long each of these windows is.",
    "controller.quorum.voters": "The controllers that vote, each as id@host:port.",
    "create.topic.policy.class.name": (
        "A class in Python that is asked before a topic is made (docs/security.md)."
    ),
    "default.replication.factor": (
        "Replicas of a topic that asks for no number; never more than there are brokers."
    ),
    "cordoned.log.dirs": (
        "Directories of log.dirs that take no new replicas, or * for all of them; what is there "
        "stays and is served."
    ),
    "delete.topic.enable": "Allows topics to be deleted.",
    "fetch.max.bytes": "The most bytes that one fetch answer carries.",
    "group.consumer.assignment.interval.ms": (
        "How long a consumer group waits before it assigns anew, so that members that come "
        "together share one assignment."
    ),
    "group.consumer.assignors": (
        "The assignors that members may name; the first is taken where they name none."
    ),
    "group.consumer.heartbeat.interval.ms": "How often members of consumer groups are heard of.",
    "group.consumer.max.size": "The most members a consumer group may have.",
    "group.consumer.migration.policy": (
        "Whether groups with members may change between the classic and the consumer protocol."
    ),
    "group.consumer.session.timeout.ms": (
        "How long a member of a consumer group may be silent before it is taken for gone."
    ),
    "group.coordinator.rebalance.protocols": "The protocols that groups may use.",
    "group.initial.rebalance.delay.ms": (
        "How long a new group waits for more members before it assigns partitions."
    ),
    "group.max.session.timeout.ms": "The longest session timeout a group member may ask for.",
    "group.max.size": "The most members a group may have.",
    "group.min.session.timeout.ms": "The shortest session timeout a group member may ask for.",
    "group.streams.assignment.interval.ms": (
        "How long a streams group waits before it assigns anew, so that members that come "
        "together share one assignment."
    ),
    "group.streams.heartbeat.interval.ms": "How often members of streams groups are heard of.",
    "group.streams.initial.rebalance.delay.ms": (
        "How long the first assignment of a streams group waits for more members."
    ),
    "group.streams.max.size": "The most members a streams group may have.",
    "group.streams.num.standby.replicas": (
        "How many copies of the state of each task streams groups keep at other instances."
    ),
    "group.streams.session.timeout.ms": (
        "How long a member of a streams group may be silent before it is taken for gone."
    ),
    "inter.broker.listener.name": "The listener that brokers use among themselves.",
    "leader.imbalance.check.interval.seconds": (
        "How often it is looked whether partitions could be led by the first of their replicas."
    ),
    "listener.security.protocol.map": "Which security protocol each listener name stands for.",
    "listeners": "The addresses to listen on, each as NAME://host:port.",
    "log.cleaner.backoff.ms": "How long the cleaner rests when there was nothing to clean.",
    "log.cleaner.dedupe.buffer.size": "Memory for the map of keys while a log is compacted.",
    "log.cleaner.enable": "Runs the cleaner that compacts topics.",
    "log.cleaner.io.max.bytes.per.second": "The most bytes per second compaction reads and writes.",
    "log.cleaner.threads": "How many logs are compacted at once.",
    "log.dir": "The directory for data, used where log.dirs is not given.",
    "log.dir.failure.timeout.ms": (
        "A node ends that cannot tell a controller for so long of a data directory that failed."
    ),
    "log.dirs": "The directories for data, separated by commas.",
    "log.flush.offset.checkpoint.interval.ms": (
        "How often the recovery point is noted, behind which a restart trusts the files."
    ),
    "log.flush.scheduler.interval.ms": (
        "How often logs are looked at for unsynced data; stands in for log.flush.interval.ms."
    ),
    "log.flush.start.offset.checkpoint.interval.ms": "How often log start offsets are noted.",
    "log.retention.check.interval.ms": "How often logs are searched for segments to drop.",
    "max.connection.creation.rate": (
        "New connections a second, over all listeners; listener.name.NAME. before it for one."
    ),
    "max.connections": (
        "The most connections that are open at once; listener.name.NAME. before it for one."
    ),
    "max.connections.per.ip": "The most connections from one address.",
    "max.connections.per.ip.overrides": "The same for single addresses, each as host:count.",
    "max.incremental.fetch.session.cache.slots": "How many incremental fetch sessions are kept.",
    "max.request.partition.size.limit": (
        "The most partitions that one DescribeTopicPartitions answer lists."
    ),
    "metadata.log.dir": "The directory of the metadata log; without it, the first of log.dirs.",
    "metadata.max.idle.interval.ms": (
        "How often a cluster of several nodes writes to an idle metadata log, so that one can see "
        "who keeps up; 0 turns it off."
    ),
    "node.id": "The number that tells this node from all others of the cluster.",
    "num.io.threads": "Request threads of a Java broker.",
    "num.network.threads": "Network threads of a Java broker.",
    "num.partitions": "Partitions of a topic that asks for no number.",
    "num.recovery.threads.per.data.dir": "Threads that recover logs at the start.",
    "num.replica.fetchers": "Fetchers per broker that is replicated from.",
    "offset.metadata.max.bytes": "The longest text that may go with a committed offset.",
    "offsets.commit.timeout.ms": "How long a commit waits for its replicas.",
    "offsets.retention.check.interval.ms": "How often expired offsets are looked for.",
    "offsets.retention.minutes": "How long the offsets of an empty group are kept.",
    "offsets.topic.num.partitions": "Partitions of the topic that holds committed offsets.",
    "offsets.topic.replication.factor": "Replicas of the topic that holds committed offsets.",
    "offsets.topic.segment.bytes": "Segment size of the topic that holds committed offsets.",
    "penstock.audit.file": (
        "Where the audit log is written, a JSON object a line; nowhere if it is empty."
    ),
    "penstock.audit.interval.ms": (
        "Over how long the audit log sums up who reads and writes what."
    ),
    "penstock.audit.topic.enable": (
        "Whether the audit log is written to the topic __penstock_audit."
    ),
    "penstock.audit.topic.replication.factor": (
        "Replicas of the topic of the audit log; as many as there are brokers, if those are fewer."
    ),
    "penstock.audit.topic.retention.ms": (
        "For how long the topic of the audit log keeps it, from when the topic is made."
    ),
    "connection.failed.authentication.delay.ms": (
        "How long a login that failed waits for its answer."
    ),
    "connections.max.reauth.ms": (
        "After how long a client has to log in again, for all mechanisms or for one of a listener; "
        "a connection that does not is closed. 0: never."
    ),
    "penstock.metrics.tls.enable": (
        "Whether metrics are served over TLS, with the keys of a listener of the name metrics."
    ),
    "penstock.metrics.topic.enable": (
        "Whether brokers write their figures to the topic __penstock_metrics, as their past."
    ),
    "penstock.metrics.topic.interval.ms": "How often they do.",
    "penstock.metrics.topic.replication.factor": (
        "Replicas of the topic of figures; as many as there are brokers, if those are fewer."
    ),
    "penstock.metrics.topic.retention.bytes": (
        "How large each of the two partitions of that topic grows, from when the topic is made."
    ),
    "penstock.metrics.topic.retention.ms": (
        "For how long the topic of figures keeps them, from when the topic is made."
    ),
    "penstock.metrics.token": (
        "Asked for by /metrics, as Authorization: Bearer; none if it is not set."
    ),
    "sasl.enabled.mechanisms": (
        "The ways to log in: SCRAM-SHA-256, SCRAM-SHA-512, PLAIN, OAUTHBEARER. GSSAPI is not "
        "served: listeners with SASL have to name others."
    ),
    "sasl.jaas.config": (
        "The login of a mechanism, as listener.name.<listener>.<mechanism>.sasl.jaas.config: with "
        "username and password the node's own, with user_<name> those of PLAIN."
    ),
    "sasl.server.max.receive.size": "The largest request that is taken before a login is over.",
    "penstock.memory.request.bytes": (
        "Memory for all requests being read or answered; further ones wait in their sockets."
    ),
    "penstock.sasl.plain.unencrypted.listeners": (
        "Listeners without TLS on which PLAIN is allowed all the same: whoever is on the way can "
        "read the passwords."
    ),
    "penstock.scram.decoy.secret": (
        "Made with the first user. Logins of users that there are not are answered by it, alike on "
        "all nodes."
    ),
    "penstock.scrub.interval.ms": (
        "How often every batch of a replicated topic is read again, to find what the disk has "
        "damaged; -1: never."
    ),
    "penstock.request.elements.max": (
        "The most elements of a request, over all its arrays: topics, partitions, names. "
        "APIs that are answered in one go have lower limits."
    ),
    "penstock.open.files.max": (
        "How many log files are kept open at once, but no more than a quarter of what the "
        "process may open."
    ),
    "process.roles": "Whether the node is a broker, a controller, or both.",
    "producer.id.expiration.ms": (
        "How long the last sequence numbers of a silent producer are remembered."
    ),
    "queued.max.request.bytes": "Memory for queued requests of a Java broker.",
    "queued.max.requests": "How many requests a Java broker queues.",
    "quota.window.num": "How many windows the rates of quotas are taken over.",
    "quota.window.size.seconds": "How long each of these windows is.",
    "replica.fetch.max.bytes": "Bytes that a follower asks for per partition.",
    "replica.lag.time.max.ms": "How long a follower may be behind and still count as in sync.",
    "request.timeout.ms": "How long a change of a transaction waits for its replicas.",
    "socket.listen.backlog.size": "Connections that may wait to be accepted.",
    "socket.receive.buffer.bytes": "Receive buffer of a socket; -1 leaves it to the system.",
    "socket.request.max.bytes": "The largest request that is read; more closes the connection.",
    "socket.send.buffer.bytes": "Send buffer of a socket; -1 leaves it to the system.",
    "transaction.max.timeout.ms": "The longest transaction timeout a producer may ask for.",
    "transaction.state.log.min.isr": "In-sync replicas that the transaction topic needs.",
    "transaction.state.log.num.partitions": "Partitions of the transaction topic.",
    "transaction.state.log.replication.factor": "Replicas of the transaction topic.",
    "transaction.state.log.segment.bytes": "Segment size of the transaction topic.",
    "transactional.id.expiration.ms": "How long an unused transactional id is remembered.",
}
