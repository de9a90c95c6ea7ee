"""Subscriptions by regular expression: which topics they come to, and when to look again."""

from __future__ import annotations

from penstock.group.consumer.draft import Draft
from penstock.group.consumer.member import ConsumerMember
from penstock.group.consumer.record import regex_record, regex_tombstone
from penstock.model.error import ApiError, ErrorCode
from penstock.model.pattern import Pattern, PatternProblem

ACCESS_REFRESH_MS = 600_000
"""After this what a member may know of is looked at again, as by Kafka."""


def match_topics(draft: Draft, before: ConsumerMember, after: ConsumerMember) -> bool:
    """Forgets the expression nobody has any more and resolves the new one; and, if topics came
    or went, all of them together. Whether any of them came to other topics."""
    group = draft.group
    regexes = group.regexes
    if before.regex and before.regex not in regexes and before.regex in group.matched:
        draft.write(regex_tombstone(group.group_id, before.regex))
    if not regexes:
        return False
    is_new = is_unmatched(draft, after)
    if is_new:
        compiled(after.regex)
    if _must_wait(before, after) if is_new else not _is_due(draft):
        return False
    changed = [_resolve(draft, regex) for regex in sorted(regexes)]
    draft.matched_again = True
    return any(changed)


def is_unmatched(draft: Draft, member: ConsumerMember) -> bool:
    return bool(member.regex) and member.regex not in draft.group.matched


def _must_wait(before: ConsumerMember, after: ConsumerMember) -> bool:
    """Topics that a member names beside a new expression are assigned first, by themselves, and
    those it matches with the next heartbeat: so it is in Kafka, and clients' tests rely on it."""
    return bool(after.topics) and before.regex != after.regex


def _is_due(draft: Draft) -> bool:
    group = draft.group
    last_ms = max((one.timestamp_ms for one in group.matched.values()), default=0)
    if draft.may_describe is not None and draft.now_ms >= last_ms + ACCESS_REFRESH_MS:
        return True
    if not group.must_match_again:
        return False
    return draft.now_ms >= last_ms + draft.config.group_consumer_regex_refresh_interval_ms


def _resolve(draft: Draft, regex: str) -> bool:
    before = draft.group.matched.get(regex)
    pattern = compiled(regex)
    topics = frozenset(name for name in draft.topics.names() if pattern.matches(name))
    if draft.may_describe is not None:
        topics = frozenset(filter(draft.may_describe, topics))
    draft.write(regex_record(draft.group_id, regex, topics, draft.topics.version, draft.now_ms))
    return before is None or before.topics != topics


def compiled(regex: str) -> Pattern:
    try:
        return Pattern(regex)
    except PatternProblem as problem:
        raise ApiError(
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            f"SubscribedTopicRegex {regex!r} is not a valid regular expression: {problem}.",
        ) from None
