"""A classic group as its members see it now: who is in it, who waits, which generation.

Part of it is in the log (see `stored.py`): what was true when the group was last Stable or Empty.
The rest is soft and gone after a restart: a rebalance under way, pending members, parked requests.
A decision works on a copy, which replaces the original only once its records are written. Knows no
requests, records or timers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from penstock.group.classic.member import Member, Protocols
from penstock.group.classic.state import TRANSITIONS, GroupEvent, GroupState, next_state
from penstock.group.classic.subscription import CONSUMER_PROTOCOL_TYPE, subscribed_topics
from penstock.model.error import InvariantError


@dataclass(slots=True)
class ClassicGroup:
    group_id: str
    state: GroupState = GroupState.EMPTY
    previous_state: GroupState = GroupState.DEAD
    state_timestamp_ms: int = -1
    generation: int = 0
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: str | None = None
    members: dict[str, Member] = field(default_factory=dict)
    static_ids: dict[str, str] = field(default_factory=dict)
    """Member id by group.instance.id."""
    pending_join: dict[str, None] = field(default_factory=dict)
    """Ids handed out with MEMBER_ID_REQUIRED whose owners have not come back yet."""
    pending_sync: dict[str, None] = field(default_factory=dict)
    """Members of this generation that have not sent SyncGroup yet."""
    join_tickets: dict[str, int] = field(default_factory=dict)
    sync_tickets: dict[str, int] = field(default_factory=dict)
    subscribed: frozenset[str] | None = None
    initial_delay: tuple[int, int] | None = None
    """During the first rebalance: the stretch now running and what may follow it, in ms."""
    new_member_added: bool = False
    protocol_counts: dict[str, int] = field(default_factory=dict)

    def copy(self) -> ClassicGroup:
        """Members are values, so copying the dicts that hold them is enough."""
        return ClassicGroup(
            self.group_id,
            self.state,
            self.previous_state,
            self.state_timestamp_ms,
            self.generation,
            self.protocol_type,
            self.protocol_name,
            self.leader_id,
            self.members.copy(),
            self.static_ids.copy(),
            self.pending_join.copy(),
            self.pending_sync.copy(),
            self.join_tickets.copy(),
            self.sync_tickets.copy(),
            self.subscribed,
            self.initial_delay,
            self.new_member_added,
            self.protocol_counts.copy(),
        )

    # --- questions ---

    @property
    def is_empty(self) -> bool:
        return self.state is GroupState.EMPTY

    @property
    def uses_consumer_protocol(self) -> bool:
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    @property
    def can_rebalance(self) -> bool:
        return GroupEvent.REBALANCE_NEEDED in TRANSITIONS[self.state]

    @property
    def all_joined(self) -> bool:
        return len(self.join_tickets) == len(self.members) and not self.pending_join

    def ends_join_phase(self, member_id: str) -> bool:
        """Whether this member, in the group or pending, is the only one still waited for. The
        first rebalance of a group ends by its timer alone: more members may be starting."""
        if self.previous_state is GroupState.EMPTY:
            return False
        missing = len(self.members) - len(self.join_tickets)
        if member_id in self.pending_join:
            return missing == 0 and len(self.pending_join) == 1
        return missing == (member_id not in self.join_tickets) and not self.pending_join

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def supports(self, protocol_type: str, names: Sequence[str]) -> bool:
        """Whether a member with protocols of these names could be in the group."""
        if self.is_empty:
            return protocol_type != "" and len(names) > 0
        if protocol_type != self.protocol_type:
            return False
        size = len(self.members)
        return any(self.protocol_counts.get(name, 0) == size for name in names)

    def is_subscribed(self, topic: str) -> bool:
        """Consumers whose subscriptions cannot be read may read anything."""
        if self.subscribed is None:
            return self.uses_consumer_protocol
        return topic in self.subscribed

    def select_protocol(self) -> str:
        """Each member votes for its favourite among those all members have."""
        size = len(self.members)
        candidates = {name for name, count in self.protocol_counts.items() if count == size}
        votes: dict[str, int] = {}
        for member in self.members.values():
            choice = member.vote(candidates)
            votes[choice] = votes.get(choice, 0) + 1
        return max(votes, key=votes.__getitem__)

    # --- changes ---

    def move(self, event: GroupEvent, now_ms: int) -> None:
        self.previous_state, self.state = self.state, next_state(self.state, event)
        self.state_timestamp_ms = now_ms

    def add(self, member: Member, protocol_type: str) -> None:
        if not self.members:
            self.protocol_type = protocol_type
        if member.instance_id is not None:
            if member.instance_id in self.static_ids:
                raise InvariantError(f"instance {member.instance_id} is in {self.group_id} already")
            self.static_ids[member.instance_id] = member.member_id
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.put(member)
        self.pending_join.pop(member.member_id, None)

    def put(self, member: Member) -> None:
        """Add a member, or replace the one of that id."""
        before = self.members.get(member.member_id)
        if before is not None:
            self._count(before.protocols, -1)
        self._count(member.protocols, 1)
        self.members[member.member_id] = member

    def assign(self, member: Member, assignment: bytes) -> None:
        self.members[member.member_id] = member._replace(assignment=assignment)

    def remove(self, member_id: str) -> None:
        """Parked requests of the member must have been answered before."""
        if member_id in self.join_tickets or member_id in self.sync_tickets:
            raise InvariantError(f"removing {member_id} would lose its parked request")
        member = self.members.pop(member_id, None)
        if member is not None:
            self._count(member.protocols, -1)
            if member.instance_id is not None:
                del self.static_ids[member.instance_id]
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)
        self.pending_join.pop(member_id, None)
        self.pending_sync.pop(member_id, None)

    def rename(self, old_id: str, new_id: str) -> Member:
        """A static member came back under a new id; the old one is fenced from here on."""
        before = self.members.pop(old_id)
        member = before._replace(member_id=new_id, is_new=False)
        self.members[new_id] = member
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = new_id
        if self.leader_id == old_id:
            self.leader_id = new_id
        if old_id in self.pending_sync:
            del self.pending_sync[old_id]
            self.pending_sync[new_id] = None
        return member

    def elect_joined_leader(self) -> bool:
        """Keep the leader if it rejoined, else take a member that did; False if none did."""
        if self.leader_id is None:
            return False
        if self.leader_id not in self.join_tickets:
            joined = next((one for one in self.members if one in self.join_tickets), None)
            if joined is None:
                return False
            self.leader_id = joined
        return True

    def start_generation(self, now_ms: int) -> None:
        self.generation += 1
        self.initial_delay = None
        self.new_member_added = False
        self.pending_sync.clear()
        self.protocol_name = self.select_protocol() if self.members else None
        self.refresh_subscription()
        self.move(GroupEvent.ALL_JOINED if self.members else GroupEvent.ALL_LEFT, now_ms)

    def refresh_subscription(self) -> None:
        """None where the topics cannot be known; without members nothing is subscribed."""
        if not self.uses_consumer_protocol or (self.members and self.protocol_name is None):
            self.subscribed = None
        else:
            self.subscribed = subscribed_topics(self._metadata())

    def _metadata(self) -> Iterable[bytes]:
        """Each once: most members of a group subscribe to the same."""
        name = self.protocol_name
        return dict.fromkeys(member.metadata(name) for member in self.members.values())

    def _count(self, protocols: Protocols, step: int) -> None:
        for name, _ in protocols:
            count = self.protocol_counts.get(name, 0) + step
            if count:
                self.protocol_counts[name] = count
            else:
                self.protocol_counts.pop(name, None)
