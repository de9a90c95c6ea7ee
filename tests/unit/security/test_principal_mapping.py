"""`ssl.principal.mapping.rules`, with the cases of Kafka's own documentation and tests."""

from __future__ import annotations

import pytest

from penstock.security.principal_mapping import MappingError, PrincipalMapping

RULES = (
    "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L, "
    "RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L, "
    "RULE:^cn=(.*?),ou=(.*?),dc=(.*?),dc=(.*?)$/$1@$2/U, "
    "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/U, "
    "DEFAULT"
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CN=Duke,OU=ServiceUsers,O=Org,C=US", "duke"),
        ("CN=Duke,OU=SME,O=mycp,L=Fulton,ST=MD,C=US", "duke@sme"),
        ("cn=duke,ou=sme,dc=mycp,dc=com", "DUKE@SME"),
        ("cN=duke,OU=JavaSoft,O=Sun Microsystems", "DUKE"),
        ("OU=JavaSoft,O=Sun Microsystems,C=US", "OU=JavaSoft,O=Sun Microsystems,C=US"),
    ],
)
def test_the_first_that_applies_decides(name: str, expected: str) -> None:
    assert PrincipalMapping(RULES).name_of(name) == expected


@pytest.mark.parametrize(
    ("rules", "name", "expected"),
    [
        ("DEFAULT", "CN=a", "CN=a"),
        ("", "CN=a", None),
        ("RULE:^CN=b$/b/", "CN=a", None),
        ("RULE:CN=a/b/", "xCN=a", None),
        ("RULE:^CN=(a)$/$1-$2-$12/", "CN=a", "a-$2-a2"),
        ("RULE:^CN=(?<who>a)$/$1/", "CN=a", "a"),
        (r"RULE:^CN=(.*)\/(.*)$/$1 \/ $2/", "CN=a/b", "a / b"),
        ("RULE:.*/all/", "CN=a", "allall"),
        ("RULE:^CN=(.*),OU=(.*)$/$2/,DEFAULT", "CN=a,OU=b", "b"),
    ],
)
def test_single_rules(rules: str, name: str, expected: str | None) -> None:
    assert PrincipalMapping(rules).name_of(name) == expected


@pytest.mark.parametrize(
    "rules", ["foo", "RULE:^CN=(.*)$", "RULE:^CN=(.*/$1/", "DEFAULT/L", "RULE:x/y/,foo"]
)
def test_what_is_no_rule_is_refused(rules: str) -> None:
    with pytest.raises(MappingError):
        PrincipalMapping(rules)
