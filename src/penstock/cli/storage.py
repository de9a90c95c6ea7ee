"""The directories of a node on this machine: formatting, and what they are. Prints nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from uuid import uuid4

from penstock.cli.failure import Failure
from penstock.model.error import PenstockError
from penstock.model.id import id_to_str
from penstock.node.cluster_config import ClusterConfig, cluster_config
from penstock.node.format.credential import parse_credentials
from penstock.node.format.feature import feature_levels, parse_features
from penstock.node.format.formatter import Formatter, NewCluster, random_id
from penstock.node.format.quorum_choice import choose_voters
from penstock.node.format.report import describe
from penstock.security.scram_users import SALT_BYTES
from penstock.settings.config import BrokerConfig
from penstock.storage.disk import RealDisk


def format_lines(
    config: str,
    cluster_id: str,
    *,
    standalone: bool,
    initial_controllers: str | None,
    no_initial_controllers: bool,
    features: Iterable[str],
    release: str | None,
    ignore_formatted: bool,
    users: Iterable[str] = (),
) -> Iterator[str]:
    """What is done, line by line, as it is done."""
    with _told_in_one_line():
        cluster = _cluster(config)
        voters = choose_voters(
            cluster,
            standalone=standalone,
            initial=initial_controllers,
            nobody=no_initial_controllers,
            new_id=_new_id,
        )
        dynamic = not cluster.voters and bool(voters or no_initial_controllers)
        levels = feature_levels(parse_features(features), release, dynamic=dynamic)
        new = NewCluster(cluster_id, levels, voters, parse_credentials(users, _new_salt))
        formatter = Formatter(cluster, new, RealDisk(), _now_ms, _new_id)
        formatted = list(formatter.unformatted(ignore_formatted=ignore_formatted))
        if formatted:
            yield _features_line(levels)
        yield from formatter.run(formatted)


def info_lines(config: str) -> tuple[list[str], bool]:
    with _told_in_one_line():
        return describe(RealDisk(), _cluster(config).directories)


def new_uuid() -> str:
    return id_to_str(random_id(_new_id))


@contextmanager
def _told_in_one_line() -> Iterator[None]:
    try:
        yield
    except PenstockError as error:
        raise Failure(str(error)) from error


def _cluster(path: str) -> ClusterConfig:
    return cluster_config(BrokerConfig.load(path))


def _features_line(levels: Mapping[str, int]) -> str:
    said = ", ".join(f"{name}={level}" for name, level in levels.items())
    return f"Features: {said}"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _new_salt() -> bytes:
    return os.urandom(SALT_BYTES)


def _new_id() -> bytes:
    return uuid4().bytes
