"""OpenTelemetry's own collector takes what `penstock metrics push` sends.

With OTLP=long: it takes Go, and minutes to build the collector's receiver.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from penstock.node.address import Address
from penstock.testing.port import free_port
from tests.node.node_kit import running
from tests.patience import wait_until
from tests.unit.cli.command_server import CommandServer
from tests.unit.cli.conftest import Command

RECEIVER = """
package main

import (
	"context"
	"fmt"
	"os"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

func show(metric pmetric.Metric) {
	switch metric.Type() {
	case pmetric.MetricTypeGauge:
		fmt.Println(metric.Name(), "gauge", metric.Gauge().DataPoints().Len())
	case pmetric.MetricTypeSum:
		fmt.Println(metric.Name(), "sum", metric.Sum().DataPoints().Len())
	case pmetric.MetricTypeHistogram:
		fmt.Println(metric.Name(), "histogram", metric.Histogram().DataPoints().At(0).Count())
	}
}

func main() {
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	settings := confmap.NewFromStringMap(map[string]any{
		"protocols": map[string]any{"http": map[string]any{"endpoint": os.Args[1]}},
	})
	if err := settings.Unmarshal(config); err != nil {
		panic(err)
	}
	done := make(chan bool)
	sink, _ := consumer.NewMetrics(func(_ context.Context, found pmetric.Metrics) error {
		for r := 0; r < found.ResourceMetrics().Len(); r++ {
			scopes := found.ResourceMetrics().At(r).ScopeMetrics()
			for s := 0; s < scopes.Len(); s++ {
				for m := 0; m < scopes.At(s).Metrics().Len(); m++ {
					show(scopes.At(s).Metrics().At(m))
				}
			}
		}
		close(done)
		return nil
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
	receiver.Shutdown(context.Background())
}
"""
MODULE = """module otlp

go 1.23.8

require go.opentelemetry.io/collector/receiver/otlpreceiver v0.110.0
"""


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """Its port; it ends when it was given metrics, and says which."""
    folder = tmp_path / "collector"
    folder.mkdir()
    (folder / "main.go").write_text(RECEIVER)
    (folder / "go.mod").write_text(MODULE)
    subprocess.run(["go", "mod", "tidy"], cwd=folder, check=True)
    subprocess.run(["go", "build", "-o", "receiver", "."], cwd=folder, check=True)
    port = free_port()
    words = [folder / "receiver", f"127.0.0.1:{port}"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as started:
        yield port, started
        started.kill()


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


@pytest.mark.skipif(os.environ.get("OTLP") != "long", reason="OTLP=long runs it")
@pytest.mark.timeout(900)
def test_a_collector_takes_what_is_pushed(
    tmp_path: Path, receiver: tuple[int, subprocess.Popen[str]], command_server: CommandServer
) -> None:
    port, collector = receiver
    wait_until(lambda: listens(port))
    with running(tmp_path / "data", metrics=Address("127.0.0.1", 0)) as node:
        command = Command(str(node.address), command_server)
        where = f"http://127.0.0.1:{port}"
        command.run("metrics", "push", str(node.node.metrics_address), "--to", where, "--once")
    said, _ = collector.communicate(timeout=60)
    found = {name: kind for name, kind, _ in (line.split() for line in said.splitlines())}
    assert found["penstock_bytes_in"] == "sum"
    assert found["penstock_active_controller"] == "gauge"
    assert found["penstock_flush_seconds"] == "histogram"
