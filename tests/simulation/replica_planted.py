"""Leaders and followers that break one rule each: the checker has to notice every one of them."""

from __future__ import annotations

from penstock.replication.follower import (
    Action,
    Append,
    AskOffset,
    FetchAnswer,
    FetchFrom,
    Follower,
    Truncate,
)
from penstock.replication.leader import Leader
from penstock.replication.progress import Progress
from tests.simulation.replica_cluster_model import Planted


class LeaderWithoutMinIsr(Leader):
    """Commits with whatever in-sync set there is."""

    __slots__ = ()

    def may_append(self, min_isr: int) -> bool:
        return True

    def is_enough(self, min_isr: int) -> bool:
        return True


class LeaderWithoutPending(Leader):
    """Forgets whom it has asked to take in, until the answer comes."""

    __slots__ = ()

    def _mark_maximal(self) -> None:
        for one in self._others:
            one.in_maximal_isr = one.replica_id in self.isr

    def _is_about_to_join(self, one: Progress, log_end_offset: int, now_ms: int) -> bool:
        return False


class LeaderWithoutEpochStart(Leader):
    """Takes in who has reached its watermark, however old that is (KAFKA-7128)."""

    __slots__ = ()

    def expand(self, replica_id: int, high_watermark: int, own_epoch: int):  # type: ignore[no-untyped-def]
        start, self.start_offset = self.start_offset, 0
        try:
            return super().expand(replica_id, high_watermark, own_epoch)
        finally:
            self.start_offset = start


class LeaderWithoutBrokerEpochs(Leader):
    """Does not ask which life of a broker a fetch came from (KIP-903)."""

    __slots__ = ()

    def _check_broker_epoch(self, replica_id: int, broker_epoch: int) -> None:
        return

    def _is_eligible(self, one: Progress) -> bool:
        broker = self._brokers(one.replica_id)
        return broker is not None and not broker.fenced and not broker.in_controlled_shutdown

    def _epoch_of(self, replica_id: int, own_epoch: int) -> int:
        return -1


class FollowerCutAtWatermark(Follower):
    """Begins by cutting its log at the high watermark, as before KIP-101."""

    __slots__ = ()

    def begin(self) -> Truncate | None:
        return Truncate(self._log.high_watermark)


class FollowerBeforeFlush(Follower):
    """Acknowledges what it has appended before that is on disk."""

    __slots__ = ()

    def next_request(self, safe_offset: int, now_ms: int) -> FetchFrom | AskOffset | None:
        return super().next_request(self._log.end_offset, now_ms)


class FollowerOfAnyWatermark(Follower):
    """Takes the watermark of an answer that tells it that its log has parted (KAFKA-14704), and
    cuts its log only then."""

    __slots__ = ("_took",)

    def on_answer(self, asked: FetchFrom, answer: FetchAnswer, now_ms: int) -> Action | None:
        action = super().on_answer(asked, answer, now_ms)
        if isinstance(action, Truncate) and getattr(self, "_took", None) != action:
            self._took = action
            return Append(b"", answer.high_watermark, answer.log_start_offset)
        return action


class FollowerWithoutEpochs(Follower):
    """Never says which epoch it fetched last, so that no leader can tell that logs have parted."""

    __slots__ = ()

    def next_request(self, safe_offset: int, now_ms: int) -> FetchFrom | AskOffset | None:
        request = super().next_request(safe_offset, now_ms)
        return (
            request._replace(last_fetched_epoch=-1) if isinstance(request, FetchFrom) else request
        )

    def on_answer(self, asked: FetchFrom, answer: FetchAnswer, now_ms: int) -> Action | None:
        asked = asked._replace(last_fetched_epoch=self._log.epochs.latest)
        return super().on_answer(asked, answer, now_ms)


PLANTED = {
    "min ISR ignored": Planted(leader=LeaderWithoutMinIsr),
    "pending members not waited for": Planted(leader=LeaderWithoutPending),
    "in sync at an old watermark": Planted(leader=LeaderWithoutEpochStart),
    "broker epoch not checked": Planted(leader=LeaderWithoutBrokerEpochs),
    "truncation by high watermark": Planted(follower=FollowerCutAtWatermark),
    "acknowledged before the flush": Planted(follower=FollowerBeforeFlush),
    "watermark of a diverging answer": Planted(follower=FollowerOfAnyWatermark),
    "no last fetched epoch": Planted(follower=FollowerWithoutEpochs),
}
