"""One broker for the whole suite, Penstock or Apache Kafka, and what every test takes from it."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.heartbeat import HeartbeatRequest
from penstock.testing.cluster import Cluster as ThreeNodes
from penstock.testing.nursery import Nursery
from penstock.testing.port import free_port
from tests.conformance.clients.admin import Admin
from tests.conformance.clients.admin_aio import AioAdmin
from tests.conformance.clients.admin_confluent import ConfluentAdmin
from tests.conformance.clients.admin_kafka_python import KafkaPythonAdmin
from tests.conformance.clients.aio import AioClient
from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.java_host import JavaHost
from tests.conformance.clients.kafka_python import KafkaPythonClient
from tests.conformance.clients.membership import Membership
from tests.conformance.clients.raw import Connection
from tests.conformance.clients.record import PATIENCE_SECONDS, Client
from tests.conformance.clients.transaction_set import TransactionSet
from tests.patience import wait_until
from tests.target import target_name
from tools import apache_kafka
from tools.brief_kafka import brief_kafka
from tools.tool_host import shared_tool_host

if TYPE_CHECKING:
    from tests.conformance.spark_stand import SparkStand

ADMINS = {kind.name: kind for kind in (ConfluentAdmin, KafkaPythonAdmin, AioAdmin)}
CLIENTS = {kind.name: kind for kind in (ConfluentClient, KafkaPythonClient, AioClient)}

# For whatever starts a Java process: Apache Kafka needs five of them, on an idle machine.
START_SECONDS = 3 * PATIENCE_SECONDS

# Both targets start with these, so that their defaults agree where Kafka's sample file differs.
BROKER_SETTINGS = {
    "num.partitions": "3",
    "auto.create.topics.enable": "true",
    # The first members of a group need not wait for more; a group is soon full.
    "group.initial.rebalance.delay.ms": "0",
    "group.max.size": "6",
    # Members of the new protocol hear of changes with their next heartbeat: let that be soon.
    "group.consumer.heartbeat.interval.ms": "200",
    "group.consumer.min.heartbeat.interval.ms": "200",
    "group.consumer.min.session.timeout.ms": "6000",
    "group.consumer.assignment.interval.ms": "100",
    "group.consumer.max.size": "6",
    "group.share.heartbeat.interval.ms": "200",
    "group.share.min.heartbeat.interval.ms": "200",
    "group.share.assignment.interval.ms": "100",
    "group.share.min.record.lock.duration.ms": "1000",
    "share.coordinator.state.topic.num.partitions": "2",
    # Many records of tests are years old: a round of retention would take them meanwhile.
    "log.retention.check.interval.ms": "3600000",
}

_broker_output: list[Path] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    if report.failed and _broker_output:
        report.sections.append(("the broker's own output", f"is in {_broker_output[0]}"))
    return report


# --- the broker under test --------------------------------------------------------------------


@dataclass(frozen=True)
class Cluster:
    target: str
    bootstrap_servers: str
    data_dir: Path
    broker_id: int
    """Of the broker at the first address, as is the directory."""
    nodes: ThreeNodes | None = None
    """Where the target is several nodes of Penstock."""

    @property
    def broker_ids(self) -> list[int]:
        return [self.broker_id] if self.nodes is None else sorted(self.nodes.nodes)

    @property
    def addresses(self) -> dict[int, tuple[str, int]]:
        if self.nodes is not None:
            return {number: node.address for number, node in self.nodes.nodes.items()}
        host, port = self.bootstrap_servers.rsplit(":", 1)
        return {self.broker_id: (host, int(port))}

    def data_dir_of(self, broker_id: int) -> Path:
        return self.data_dir if self.nodes is None else self.nodes.nodes[broker_id].data_dir


@pytest.fixture(scope="session")
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    data_dir = tmp_path_factory.mktemp("conformance") / "data"
    target = target_name(request.config)
    if target == "kafka":
        yield from _kafka_cluster(data_dir)
    elif target == "cluster":
        yield from three_nodes(data_dir)
    else:
        yield from _penstock_cluster(data_dir)


def _kafka_cluster(data_dir: Path) -> Iterator[Cluster]:
    reason = apache_kafka.missing_prerequisite()
    if reason is not None:
        pytest.skip(reason)
    # One coordinator's log instead of fifty, which Kafka takes seconds to create; and it looks for
    # transactions that took too long every ten seconds unless told otherwise.
    settings = BROKER_SETTINGS | {
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
    }
    with brief_kafka(data_dir, settings, start_timeout=START_SECONDS) as broker:
        _broker_output.append(broker.log_file)
        yield Cluster("kafka", broker.bootstrap_servers, data_dir, 1)


def _penstock_cluster(data_dir: Path) -> Iterator[Cluster]:
    port = free_port()
    process = start_penstock(data_dir, BROKER_SETTINGS, port)
    try:
        address = f"127.0.0.1:{port}"
        metadata = AdminClient({"bootstrap.servers": address}).list_topics(timeout=60)
        yield Cluster("penstock", address, data_dir, min(metadata.brokers))
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def three_nodes(folder: Path) -> Iterator[Cluster]:
    """The first address is that of a node that is not the controller: what is asked there by itself
    has to find its way."""
    # A nursery of its own: the plugin closes the shared one before this fixture may end.
    nursery = Nursery()
    nodes = ThreeNodes(folder, settings=BROKER_SETTINGS, nursery=nursery)
    try:
        nodes.start_all()
        _broker_output.append(folder)
        first = next(each for each in nodes.nodes if each != nodes.controller())
        order = sorted(nodes.nodes, key=lambda each: each != first)
        servers = ",".join(nodes.nodes[each].bootstrap_servers for each in order)
        yield Cluster("cluster", servers, nodes.nodes[first].data_dir, first, nodes)
    finally:
        nodes.kill_all()
        nursery.close()


def start_penstock(
    data_dir: Path, settings: Mapping[str, str], port: int
) -> subprocess.Popen[bytes]:
    """Start the broker as its own process and return once it says that it is ready."""
    ready = data_dir.with_name("ready")
    output = data_dir.with_name("penstock.out")
    _broker_output.append(output)
    listen = ["--listen", f"127.0.0.1:{port}", "--data-dir", str(data_dir)]
    chosen = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "penstock.cli.main", "start", *listen, *chosen]
    with open(output, "wb") as log:
        process = subprocess.Popen(
            [*command, "--ready-file", str(ready)], stdout=log, stderr=log, stdin=subprocess.DEVNULL
        )
    deadline = time.monotonic() + 30
    while not ready.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            process.wait()
            pytest.fail(f"penstock did not start:\n{output.read_text(errors='replace')[-3000:]}")
        time.sleep(0.01)
    return process


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Clients that leave sockets to the garbage collector are not what is tested here."""
    ignore = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(ignore)


# --- what tests take --------------------------------------------------------------------------


@pytest.fixture(scope="session")
def admin(cluster: Cluster) -> AdminClient:
    # Silent: it outlives the broker and would complain on stderr.
    return AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})


@pytest.fixture(params=list(CLIENTS))
def client(request: pytest.FixtureRequest, cluster: Cluster) -> Client:
    return CLIENTS[request.param](cluster.bootstrap_servers)


@pytest.fixture(params=list(ADMINS))
def admin_client(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[Admin]:
    client = ADMINS[request.param](cluster.bootstrap_servers)
    yield client
    client.close()


@pytest.fixture(scope="session")
def java_host() -> Iterator[JavaHost]:
    host = JavaHost()
    yield host
    host.close()


@pytest.fixture
def membership(cluster: Cluster, java_host: JavaHost) -> Iterator[Membership]:
    membership = Membership(cluster.bootstrap_servers, java_host)
    yield membership
    membership.close()


@pytest.fixture
def tool(cluster: Cluster) -> Callable[..., str]:
    """Run one of Kafka's command line tools on the cluster: what it printed."""

    def run(name: str, *args: str, stdin: str | None = None, fails: bool = False) -> str:
        address = ["--bootstrap-server", cluster.bootstrap_servers]
        done = shared_tool_host().run(name, [*address, *args], stdin=stdin)
        assert (done.returncode != 0) == fails, f"{name}: {done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    return run


@pytest.fixture
def connection(cluster: Cluster) -> Iterator[Connection]:
    with closing(Connection(cluster.bootstrap_servers)) as connection:
        yield connection


_numbers = itertools.count(1)


@pytest.fixture
def topic_name(request: pytest.FixtureRequest) -> str:
    """A name no other test uses, readable in a broker's log."""
    readable = request.function.__name__.removeprefix("test_").replace("_", "-")
    return f"{readable}-{next(_numbers)}"


@pytest.fixture(scope="session")
def coordinator(cluster: Cluster) -> None:
    """The first group of all has the internal topic made and loaded, which takes Kafka a moment."""
    connection = Connection(cluster.bootstrap_servers)
    find = FindCoordinatorRequest(coordinator_keys=["conformance-first"])
    beat = HeartbeatRequest(group_id="conformance-first", generation_id=1, member_id="nobody")
    try:
        wait_until(lambda: connection.call(find, 6).coordinators[0].error_code == ErrorCode.NONE)
        wait_until(lambda: connection.call(beat, 4).error_code == ErrorCode.UNKNOWN_MEMBER_ID)
    finally:
        connection.close()


@pytest.fixture
def group_id(coordinator: None, topic_name: str) -> str:
    return f"{topic_name}-group"


@pytest.fixture
def make_topic(
    request: pytest.FixtureRequest, admin: AdminClient, cluster: Cluster
) -> Callable[..., str]:
    """Create a topic (one partition unless told otherwise) and wait until it can be written, and
    until every node knows of it: tools ask whichever comes first."""

    def make(partitions: int = 1, **config: str) -> str:
        readable = request.function.__name__.removeprefix("test_").replace("_", "-")
        name = f"{readable}-{next(_numbers)}"
        settings = {key.replace("_", "."): value for key, value in config.items()}
        new = NewTopic(name, partitions, config=settings)
        admin.create_topics([new])[name].result(PATIENCE_SECONDS)
        wait_for_leaders(admin, name, partitions)
        if cluster.nodes is not None:
            wait_until_known(cluster.nodes, name)
        return name

    return make


@pytest.fixture
def topic(make_topic: Callable[..., str]) -> str:
    return make_topic()


@pytest.fixture
def stand(
    request: pytest.FixtureRequest, cluster: Cluster, admin: AdminClient, tmp_path: Path
) -> Iterator[SparkStand]:
    """Spark on this cluster; what a test leaves running ends with it."""
    from tests.conformance.spark_stand import SparkStand, skip_without_java

    skip_without_java()
    spark = request.getfixturevalue("spark")
    transactions = TransactionSet(cluster.bootstrap_servers)
    yield SparkStand(spark, cluster.bootstrap_servers, admin, transactions, tmp_path)
    for query in spark.streams.active:
        query.stop()
    transactions.close()


def wait_until_known(nodes: ThreeNodes, topic: str) -> None:
    first = TopicPartition(topic, 0)
    wait_until(lambda: all(first in nodes.partitions(each) for each in nodes.nodes))


def wait_for_leaders(admin: AdminClient, topic: str, partitions: int) -> None:
    def led() -> bool:
        known = admin.list_topics(topic, timeout=PATIENCE_SECONDS).topics[topic].partitions
        return len(known) == partitions and all(p.leader >= 0 for p in known.values())

    wait_until(led)
