"""Subscriptions by regular expression: which topics they come to, and when to look again."""

from __future__ import annotations

from penstock.group.consumer.draft import Draft
from penstock.group.consumer.record import regex_record, regex_tombstone
from penstock.model.error import ApiError, ErrorCode
from penstock.model.pattern import Pattern, PatternProblem

ACCESS_REFRESH_MS = 600_000
"""After this what a member may know of is looked at again, as by Kafka."""


def match_topics(draft: Draft, before: str, after: str) -> bool:
    """Forgets the expression nobody has any more and resolves the new one; and, if topics came
    or went, all of them together. Whether any of them came to other topics."""
    group = draft.group
    regexes = group.regexes
    if before and before not in regexes and before in group.matched:
        draft.write(regex_tombstone(group.group_id, before))
    if not regexes:
        return False
    pattern = None
    if after and after not in group.matched:
        pattern = compiled(after)
    if pattern is None and not _is_due(draft):
        return False
    changed = [_resolve(draft, regex) for regex in sorted(regexes)]
    draft.matched_again = True
    return any(changed)


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
