"""Why the brokers would allow something or refuse it, by the entries that they have."""

from __future__ import annotations

from typing import NamedTuple

from penstock.cli.acl.argument import Resource
from penstock.cli.acl.entry import document, operation_word, read_acls, told, type_word
from penstock.cli.operator.link import Link
from penstock.metadata.acl import Acl
from penstock.model.acl import Operation, ResourceType
from penstock.model.principal import Principal
from penstock.security.authorizer import Authorizer


class Explanation(NamedTuple):
    is_allowed: bool
    question: str
    acl: Acl | None
    others: list[Acl]
    """Entries about the same name that did not decide."""

    def lines(self) -> list[str]:
        lines = [f"{'allowed' if self.is_allowed else 'refused'}: {self.question}"]
        if self.acl is not None:
            lines.append(f"by: {told(self.acl)}")
        elif self.others:
            lines.append("because no entry allows it; there are entries for others, or for more")
        else:
            lines.append(
                "because no entry is about it; with allow.everyone.if.no.acl.found the brokers "
                "would allow it"
            )
        lines += [f"also: {told(acl)}" for acl in self.others]
        lines.append("super.users of the brokers may do everything; brokers do not show who is one")
        return lines

    def document(self) -> dict[str, object]:
        return {
            "allowed": self.is_allowed,
            "by": None if self.acl is None else document(self.acl),
            "also": [document(acl) for acl in self.others],
        }


def explain(
    link: Link, principal: str, host: str, operation: Operation, resource: Resource
) -> Explanation:
    acls = read_acls(link, resource.type, resource.name)
    kind, _, name = principal.partition(":")
    verdict = Authorizer(acls=acls).judge(
        Principal(kind, name), host, operation, resource.type, resource.name
    )
    what = (
        "the cluster"
        if resource.type == ResourceType.CLUSTER
        else f"{type_word(resource.type)} {resource.name}"
    )
    question = f"{principal} to {operation_word(operation)} {what} from {host}"
    others = [acl for acl in acls if acl != verdict.acl]
    return Explanation(verdict.is_allowed, question, verdict.acl, others)
