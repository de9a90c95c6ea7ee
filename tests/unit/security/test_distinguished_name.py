"""Names as Java writes them: what is expected is what X500Principal.getName() of Java 17 says."""

from __future__ import annotations

import pytest

from penstock.security.der import DerError
from penstock.security.distinguished_name import distinguished_name

OF_JAVA = {
    "3058310b3009060355040613024445310b300906035504080c024245310f300d06035504070c064265726c696e"
    "310d300b060355040a0c0441636d65310c300a060355040b0c03506179310e300c06035504030c05616c696365": (
        "CN=alice,OU=Pay,O=Acme,L=Berlin,ST=BE,C=DE"
    ),
    "304131243022060355040a0c1b41636d652c2022536f6e7322202b203c436f3e3b205c203d2023313119301706"
    "035504030c10206c65616420616e6420747261696c20": (
        'CN=\\ lead and trail\\ ,O=Acme\\, \\"Sons\\" \\+ \\<Co\\>\\; \\\\ \\= \\#1'
    ),
    "301a310b300906035504030c022378310b3009060355040b0c022020": "OU=\\ \\ ,CN=\\#x",
    "302c31193017060355040a0c104dc3bc6c6c657220262053c3b6686e65310f300d06035504030c06"
    "e697a5e69cac": ("CN=日本,O=Müller & Söhne"),
    "30223114301206092a864886f70d01090116056140622e63310a300806035504030c0178": (
        "CN=x,1.2.840.113549.1.9.1=#16056140622e63"
    ),
    "306d31133011060a0992268993f22c6401191603636f6d31173015060a0992268993f22c64011916076578616d"
    "706c6531123010060a0992268993f22c6401010c027531310f300d06035504090c064d61696e2031310b300906"
    "0355040513023737310b3009060355040c0c024472": (
        "2.5.4.12=#0c024472,2.5.4.5=#13023737,STREET=Main 1,UID=u1,DC=example,DC=com"
    ),
    "3029311b300806035504030c0161300f060a0992268993f22c6401010c0162310a3008060355040a0c016f": (
        "O=o,CN=a+UID=b"
    ),
    "301d310c300a06035504030c03610a62310d300b060355040a0c0478097920": "O=x\ty\\ ,CN=a\nb",
    "300e310c300a06035504030c03610062": "CN=a\\00b",
    "300e310c300a06035504030c0309610a": "CN=\ta\n",
    "30213113301106035504031e0a0062006d0070002000e9310a3008060355040a0c016f": (
        "O=o,CN=\\00b\\00m\\00p\\00 \\00\ufffd"
    ),
}


@pytest.mark.parametrize(("name", "expected"), OF_JAVA.items())
def test_as_java_writes_it(name: str, expected: str) -> None:
    assert distinguished_name(bytes.fromhex(name)) == expected


@pytest.mark.parametrize("name", OF_JAVA)
def test_what_is_cut_off_is_an_error_and_nothing_else(name: str) -> None:
    whole = bytes.fromhex(name)
    for length in range(len(whole)):
        with pytest.raises(DerError):
            distinguished_name(whole[:length])
