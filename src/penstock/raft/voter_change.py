"""Changing the voters as leader (KIP-853): one change at a time, each by one voter.

Owns the change under way. The set counts from the moment its record is appended; whoever asked is
answered when it is committed. Two sets that follow each other then always share a majority, as long
as the one before is committed first and this epoch has committed something at all.
"""

from __future__ import annotations

from collections.abc import Hashable

from penstock.model.error import ErrorCode
from penstock.model.id import ZERO_ID
from penstock.raft.core import Core
from penstock.raft.leadership import Leadership
from penstock.raft.message import (
    AddVoter,
    AskVersions,
    RemoveVoter,
    UpdateVoter,
    VersionsAnswer,
    VoterChangeAnswer,
)
from penstock.raft.outbox import InFlight
from penstock.raft.ready import AppendControl
from penstock.raft.role import Leader, VoterChange
from penstock.raft.voter import Voter, VoterSet

_LANE = "versions"


class VoterChanges:
    def __init__(self, core: Core, leadership: Leadership) -> None:
        self._core = core
        self._leadership = leadership

    def _answer(self, token: Hashable, error: ErrorCode, message: str | None = None) -> None:
        self._core.answer(token, VoterChangeAnswer(error, self._core.current_leader(), message))

    def _leader(self, token: Hashable) -> Leader | None:
        if isinstance(self._core.role, Leader):
            return self._core.role
        self._answer(token, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return None

    def _problem(self, leader: Leader, change: str) -> tuple[ErrorCode, str] | None:
        core = self._core
        if leader.change is not None:
            return ErrorCode.REQUEST_TIMED_OUT, "another change of voters is under way"
        if leader.high_watermark is None:
            return ErrorCode.REQUEST_TIMED_OUT, "the leader has committed nothing yet"
        if core.kraft_version == 0:
            return (
                ErrorCode.UNSUPPORTED_VERSION,
                f"Cluster doesn't support {change} voter because the kraft.version feature is 0",
            )
        if core.history.voters_offset >= leader.high_watermark:
            return ErrorCode.REQUEST_TIMED_OUT, "the last change of voters is not committed yet"
        return None

    def add(self, request: AddVoter, token: Hashable) -> None:
        leader = self._leader(token)
        if leader is None:
            return
        problem = self._problem(leader, "adding") or self._newcomer_problem(request.voter)
        if problem is not None:
            self._answer(token, *problem)
            return
        core = self._core
        node = request.voter.node
        request_id = core.outbox.send((_LANE, node.id), node, AskVersions(), core.now_ms)
        deadline_ms = core.now_ms + min(request.timeout_ms, core.config.request_timeout_ms * 15)
        leader.change = VoterChange(
            token,
            deadline_ms,
            newcomer=request.voter,
            request_id=request_id,
            ack_when_committed=request.ack_when_committed,
        )

    def _newcomer_problem(self, voter: Voter) -> tuple[ErrorCode, str] | None:
        core = self._core
        if core.voters.get(voter.key.id) is not None:
            return ErrorCode.DUPLICATE_VOTER, f"{voter.key.id} is a voter already"
        return self._endpoint_problem(voter)

    def _endpoint_problem(self, voter: Voter) -> tuple[ErrorCode, str] | None:
        own = self._core.config.endpoints
        if own and own[0].listener not in {one.listener for one in voter.endpoints}:
            return ErrorCode.INVALID_REQUEST, f"no endpoint for the listener {own[0].listener}"
        return None

    def receive_versions(self, request_id: int, answer: VersionsAnswer) -> None:
        role = self._core.role
        if not isinstance(role, Leader) or role.change is None:
            return
        change = role.change
        if change.request_id != request_id or change.newcomer is None:
            return
        problem = self._unfit(role, change.newcomer, answer)
        if problem is not None:
            role.change = None
            self._answer(change.token, *problem)
            return
        voter = change.newcomer._replace(kraft_versions=answer.kraft_versions)
        self._append(change, self._core.voters.with_voter(voter))

    def _unfit(
        self, leader: Leader, voter: Voter, answer: VersionsAnswer
    ) -> tuple[ErrorCode, str] | None:
        core = self._core
        if answer.error is not ErrorCode.NONE:
            return ErrorCode.REQUEST_TIMED_OUT, "the new voter did not tell its versions"
        if not answer.kraft_versions.holds(core.kraft_version):
            return ErrorCode.INVALID_REQUEST, f"kraft.version {core.kraft_version} is not supported"
        progress = leader.replicas.get(voter.key)
        if progress is None or not progress.is_caught_up(core.now_ms):
            return ErrorCode.REQUEST_TIMED_OUT, "the new voter has not caught up with the log yet"
        return None

    def request_failed(self, sent: InFlight, request_id: int) -> None:
        self._core.outbox.back_off(sent.lane, self._core.now_ms)
        self.receive_versions(request_id, VersionsAnswer(ErrorCode.NETWORK_EXCEPTION))

    def remove(self, request: RemoveVoter, token: Hashable) -> None:
        leader = self._leader(token)
        if leader is None:
            return
        problem = self._problem(leader, "removing") or self._removal_problem(request)
        if problem is not None:
            self._answer(token, *problem)
            return
        leader.change = self._change(token)
        self._append(leader.change, self._core.voters.without(request.voter.id))

    def _removal_problem(self, request: RemoveVoter) -> tuple[ErrorCode, str] | None:
        voters = self._core.voters
        voter = voters.get(request.voter.id)
        if voter is None or voter.key != request.voter:
            return ErrorCode.VOTER_NOT_FOUND, f"{request.voter.id} with that directory is no voter"
        if len(voters) == 1:
            return ErrorCode.INVALID_REQUEST, "the only voter cannot be removed"
        return None

    def update(self, request: UpdateVoter, token: Hashable) -> None:
        core = self._core
        error = _epoch_error(request.epoch, core.epoch)
        if error is not ErrorCode.NONE:
            self._answer(token, error)
            return
        leader = self._leader(token)
        if leader is None:
            return
        self._leadership.heard(leader, request.voter.key)
        problem = self._update_problem(leader, request.voter)
        if problem is not None:
            self._answer(token, *problem)
        elif core.kraft_version == 0:
            leader.updates[request.voter.key.id] = request.voter
            self._answer(token, ErrorCode.NONE)
        elif core.voters.get(request.voter.key.id) == request.voter:
            self._answer(token, ErrorCode.NONE)
        else:
            leader.change = self._change(token)
            self._append(leader.change, core.voters.with_voter(request.voter))

    def _update_problem(self, leader: Leader, voter: Voter) -> tuple[ErrorCode, str] | None:
        core = self._core
        problem = self._problem(leader, "updating") if core.kraft_version > 0 else None
        if problem is not None:
            return problem
        if not voter.kraft_versions.holds(core.kraft_version):
            return ErrorCode.INVALID_REQUEST, f"kraft.version {core.kraft_version} is not supported"
        if not core.voters.includes(voter.key):
            return ErrorCode.VOTER_NOT_FOUND, f"{voter.key.id} with that directory is no voter"
        return self._endpoint_problem(voter)

    def upgrade(self, version: int, token: Hashable) -> None:
        """kraft.version 0 to 1: the voters move into the log, with the directories they told."""
        leader = self._leader(token)
        if leader is None:
            return
        core = self._core
        if version == core.kraft_version:
            self._answer(token, ErrorCode.NONE)
        elif version < core.kraft_version:
            message = "Can't downgrade the version of this feature."
            self._answer(token, ErrorCode.INVALID_UPDATE_VERSION, message)
        elif not core.config.kraft_versions.holds(version):
            self._answer(token, ErrorCode.INVALID_UPDATE_VERSION, "this node does not support it")
        elif leader.high_watermark is None or leader.change is not None:
            self._answer(token, ErrorCode.REQUEST_TIMED_OUT)
        else:
            self._upgrade(leader, version, token)

    def _upgrade(self, leader: Leader, version: int, token: Hashable) -> None:
        core = self._core
        config = core.config
        own = Voter(config.key, config.endpoints, config.kraft_versions)
        told = {**leader.updates, config.node_id: own}
        missing = [
            one
            for one in core.voters.ids
            if one not in told
            or not told[one].kraft_versions.holds(version)
            or told[one].key.directory_id == ZERO_ID
        ]
        if missing:
            message = f"no word yet that {missing} support it"
            self._answer(token, ErrorCode.INVALID_UPDATE_VERSION, message)
            return
        leader.change = self._change(token)
        self._append(leader.change, VoterSet(told[one] for one in core.voters.ids), version)

    def _change(self, token: Hashable) -> VoterChange:
        return VoterChange(token, self._core.now_ms + self._core.config.request_timeout_ms * 15)

    def _append(self, change: VoterChange, voters: VoterSet, version: int | None = None) -> None:
        core = self._core
        change.offset = core.log.end_offset
        core.log_work.append(AppendControl(core.epoch, None, version, voters))
        if not change.ack_when_committed:
            self._answer(change.token, ErrorCode.NONE)
            change.answered = True

    def settle(self, leader: Leader) -> None:
        """Answer what is committed, give up waiting for what takes too long."""
        change = leader.change
        if change is None:
            return
        committed = leader.high_watermark if leader.high_watermark is not None else -1
        if change.offset is not None and committed > change.offset:
            self._end(leader, change, ErrorCode.NONE)
        elif self._core.now_ms >= change.deadline_ms:
            self._end(leader, change, ErrorCode.REQUEST_TIMED_OUT)

    def _end(self, leader: Leader, change: VoterChange, error: ErrorCode) -> None:
        leader.change = None
        if not change.answered:
            self._answer(change.token, error)

    def dismiss(self, change: VoterChange | None) -> None:
        if change is not None and not change.answered:
            self._answer(change.token, ErrorCode.NOT_LEADER_OR_FOLLOWER)


def _epoch_error(requested: int, own: int) -> ErrorCode:
    if requested < own:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.UNKNOWN_LEADER_EPOCH if requested > own else ErrorCode.NONE
