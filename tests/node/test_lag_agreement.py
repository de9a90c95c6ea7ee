"""Kafka's own tool, our command and the broker's metrics count the same lag.

With LAG=long so does franz-go's kadm, on which exporters of lag are built: that takes Go.
"""

from __future__ import annotations

import os
import subprocess
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


KADM = """
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	client, err := kgo.NewClient(kgo.SeedBrokers(os.Args[1]))
	if err != nil {
		panic(err)
	}
	defer client.Close()
	lags, err := kadm.NewClient(client).Lag(context.Background(), os.Args[2])
	if err != nil {
		panic(err)
	}
	for _, group := range lags {
		for _, each := range group.Lag.Sorted() {
			fmt.Println(each.Topic, each.Partition, each.Commit.At, each.Lag)
		}
	}
}
"""
KADM_MODULE = "module lag\n\ngo 1.23.8\n\nrequire github.com/twmb/franz-go/pkg/kadm v1.16.1\n"


def by_kadm(servers: str, group: str, folder: Path) -> Lags:
    folder.mkdir()
    (folder / "main.go").write_text(KADM)
    (folder / "go.mod").write_text(KADM_MODULE)
    subprocess.run(["go", "mod", "tidy"], cwd=folder, check=True)
    run = ["go", "run", ".", servers, group]
    said = subprocess.run(run, cwd=folder, check=True, capture_output=True, text=True).stdout
    rows = (line.split() for line in said.splitlines())
    return {(row[0], int(row[1])): (int(row[2]), int(row[3])) for row in rows}


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
            assert by_kadm(servers, "g", tmp_path / "kadm") == expected
        consumer.close()
        transactional.abort_transaction(30)
