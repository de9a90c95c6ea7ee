"""Kafka's own tool, our command and the broker's metrics count the same lag.

With LAG=long so do the receiver of Kafka's metrics in OpenTelemetry's collector, which takes Go and
minutes to build, and kafkatop, which pip installs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.cli.cluster import Cluster
from penstock.cli.group.reader import ClusterReader
from penstock.cli.operator.link import Link
from penstock.cli.profile import Target
from penstock.node.address import Address
from tests.node.node_kit import RunningNode, running
from tests.node.test_node_metrics import scrape
from tests.patience import wait_until
from tools.tool_host import shared_tool_host

Lags = dict[tuple[str, int], tuple[int, int]]
"""By topic and partition: the committed offset, and how many records behind."""


def by_kafka(servers: str, group: str) -> Lags:
    asked = ["--bootstrap-server", servers, "--describe", "--group", group]
    done = shared_tool_host().run("kafka-consumer-groups", asked)
    assert done.returncode == 0, done
    rows = (line.split() for line in done.stdout.splitlines() if line.startswith(f"{group} "))
    return {(row[1], int(row[2])): (int(row[3]), int(row[5])) for row in rows if row[3] != "-"}


def by_command(servers: str, group: str) -> Lags:
    with ClusterReader(Link(Cluster(Target(servers)))) as reader:
        (found,) = reader.lags([reader.named(group)])
    return {
        each.place: (each.committed, each.lag)
        for each in found.partitions
        if each.committed is not None and each.lag is not None
    }


def by_metrics(node: RunningNode, group: str) -> Lags:
    found: dict[str, dict[tuple[str, int], int]] = {"committed_offset": {}, "lag": {}}
    for (name, pairs), figure in scrape(node).items():
        labels = dict(pairs)
        kind = name.removeprefix("penstock_group_")
        if labels.get("group") == group and kind in found:
            found[kind][labels["topic"], int(labels["partition"])] = int(figure)
    offsets, lags = found["committed_offset"], found["lag"]
    return {place: (offset, lags[place]) for place, offset in offsets.items()}


RECEIVER = """
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/open-telemetry/opentelemetry-collector-contrib/receiver/kafkametricsreceiver"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

func show(metric pmetric.Metric) {
	if metric.Type() != pmetric.MetricTypeGauge {
		return
	}
	points := metric.Gauge().DataPoints()
	for at := 0; at < points.Len(); at++ {
		labels := points.At(at).Attributes().AsRaw()
		if labels["partition"] != nil {
			place := fmt.Sprint(labels["topic"], " ", labels["partition"])
			fmt.Println(metric.Name(), place, points.At(at).IntValue())
		}
	}
}

func main() {
	factory := kafkametricsreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	settings := confmap.NewFromStringMap(map[string]any{
		"brokers": []any{os.Args[1]}, "protocol_version": "2.8.0", "scrapers": []any{"consumers"},
		"group_match": os.Args[2], "topic_match": ".*", "collection_interval": "1s",
	})
	if err := settings.Unmarshal(config); err != nil {
		panic(err)
	}
	done := make(chan bool)
	sink, _ := consumer.NewMetrics(func(_ context.Context, found pmetric.Metrics) error {
		if found.DataPointCount() == 0 {
			return nil
		}
		for r := 0; r < found.ResourceMetrics().Len(); r++ {
			scopes := found.ResourceMetrics().At(r).ScopeMetrics()
			for s := 0; s < scopes.Len(); s++ {
				for m := 0; m < scopes.At(s).Metrics().Len(); m++ {
					show(scopes.At(s).Metrics().At(m))
				}
			}
		}
		done <- true
		select {}
	})
	receiver, err := factory.CreateMetricsReceiver(
		context.Background(), receivertest.NewNopSettings(), config, sink)
	if err == nil {
		err = receiver.Start(context.Background(), componenttest.NewNopHost())
	}
	if err != nil {
		panic(err)
	}
	<-done
}
"""
CONTRIB = "github.com/open-telemetry/opentelemetry-collector-contrib"
RECEIVER_MODULE = (
    f"module lag\n\ngo 1.23.8\n\nrequire {CONTRIB}/receiver/kafkametricsreceiver v0.110.0\n"
)


def by_collector(servers: str, group: str, folder: Path) -> Lags:
    folder.mkdir()
    (folder / "main.go").write_text(RECEIVER)
    (folder / "go.mod").write_text(RECEIVER_MODULE)
    subprocess.run(["go", "mod", "tidy"], cwd=folder, check=True)
    run = ["go", "run", ".", servers, group]
    said = subprocess.run(run, cwd=folder, check=True, capture_output=True, text=True).stdout
    found: dict[str, dict[tuple[str, int], int]] = {"offset": {}, "lag": {}}
    for name, topic, partition, figure in (line.split() for line in said.splitlines()):
        found[name.rpartition(".")[2]][topic, int(partition)] = int(figure)
    return {place: (offset, found["lag"][place]) for place, offset in found["offset"].items()}


def install_kafkatop(folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([folder / "bin" / "pip", "install", "-q", "kafkatop==1.16"], check=True)


def by_kafkatop(servers: str, group: str, folder: Path) -> dict[str, tuple[int, int]]:
    """By topic the least and the most that a partition is behind."""
    asked = ["--kafka-broker", servers, "--summary-json", "--all", "--group-filter-pattern", group]
    run = [folder / "bin" / "kafkatop", *asked]
    said = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    topics = json.loads(said)[group]["topics"]
    return {name: (each["lag_min"], each["lag_max"]) for name, each in topics.items()}


@pytest.mark.java
@pytest.mark.timeout(600)
def test_all_count_the_same(tmp_path: Path) -> None:
    with running(tmp_path / "data", metrics=Address("127.0.0.1", 0)) as node:
        servers = str(node.address)
        admin = AdminClient({"bootstrap.servers": servers})
        for made in admin.create_topics([NewTopic("plain", 3), NewTopic("txn", 1)]).values():
            made.result(30)
        producer = Producer({"bootstrap.servers": servers})
        for number in range(90):
            producer.produce("plain", b"record", partition=number % 3)
        assert producer.flush(30) == 0
        transactional = Producer({"bootstrap.servers": servers, "transactional.id": "t"})
        transactional.init_transactions(30)
        transactional.begin_transaction()
        transactional.produce("txn", b"committed")
        transactional.commit_transaction(30)
        # Records of a transaction that is open count as well: the tool does not ask otherwise.
        transactional.begin_transaction()
        transactional.produce("txn", b"open")
        assert transactional.flush(30) == 0
        consumer = Consumer({"bootstrap.servers": servers, "group.id": "g"})
        offsets = [("plain", 0, 30), ("plain", 1, 7), ("plain", 2, 0), ("txn", 0, 1)]
        places = [TopicPartition(*each) for each in offsets]
        consumer.commit(offsets=places, asynchronous=False)
        expected = {
            ("plain", 0): (30, 0),
            ("plain", 1): (7, 23),
            ("plain", 2): (0, 30),
            ("txn", 0): (1, 2),
        }
        assert by_kafka(servers, "g") == expected
        assert by_command(servers, "g") == expected
        assert by_metrics(node, "g") == expected
        if os.environ.get("LAG") == "long":
            assert by_collector(servers, "g", tmp_path / "collector") == expected
            install_kafkatop(tmp_path / "kafkatop")
            # It asks for ends as consumers of committed records see them.
            without_open = {"plain": (0, 30), "txn": (1, 1)}
            assert by_kafkatop(servers, "g", tmp_path / "kafkatop") == without_open
        transactional.abort_transaction(30)
        expected["txn", 0] = (1, 3)
        # An abort is answered when it is decided: its marker, one more record, comes behind that.
        wait_until(lambda: by_command(servers, "g") == expected)
        assert by_metrics(node, "g") == expected
        if os.environ.get("LAG") == "long":
            least_and_most = {"plain": (0, 30), "txn": (3, 3)}
            assert by_kafkatop(servers, "g", tmp_path / "kafkatop") == least_and_most
        consumer.close()
