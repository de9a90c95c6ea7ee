"""The one pinned set of versions that pipelines run on; docs/decisions/0006 says why this one.

Only data: every jar is named here with its checksum, and nothing comes along that is not.
"""

from __future__ import annotations

from dataclasses import dataclass

SPARK = "4.2.0"
SCALA = "2.13"
JAVA_MINIMUM = 17
INSTALL = "in Penstock's checkout: pip install '.[spark]'"
"""How the Python packages that pipelines need are installed."""


@dataclass(frozen=True)
class Jar:
    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"


@dataclass(frozen=True)
class JarSet:
    """Jars that are fetched, checked and put on the class path together."""

    name: str
    title: str
    jars: tuple[Jar, ...]


KAFKA = JarSet(
    name=f"kafka-spark-{SPARK}",
    title="Spark's Kafka and Avro connectors",
    jars=(
        Jar(
            "org.apache.spark",
            f"spark-sql-kafka-0-10_{SCALA}",
            SPARK,
            "64539c45e5d39f7ddb747312c239f38f5208d08c1a0ddf7d70beb2fbd9373705",
        ),
        # Its classes are named by the connector, and used for delegation tokens alone.
        Jar(
            "org.apache.spark",
            f"spark-token-provider-kafka-0-10_{SCALA}",
            "4.0.0",
            "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767",
        ),
        Jar(
            "org.apache.kafka",
            "kafka-clients",
            "3.9.1",
            "7568b998572d256f0b7bc0afdc1b7a2588b8b08415c62ce314c864a6851ae9d9",
        ),
        Jar(
            "org.apache.commons",
            "commons-pool2",
            "2.12.0",
            "6d3bd18df8410f3e31b031aca582cc109342358a62a2759ebd0c4cdf30d06f8b",
        ),
        Jar(
            "org.apache.spark",
            f"spark-avro_{SCALA}",
            "4.1.1",
            "6a19d90bc3b6e88d8db0fa36a19273aa10fea2dbd7a62bb60e4cedd73051b32d",
        ),
    ),
)

DELTA = JarSet(
    name=f"delta-spark-{SPARK}",
    title="Delta Lake",
    jars=(
        Jar(
            "io.delta",
            f"delta-spark_4.2_{SCALA}",
            "4.4.0",
            "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead",
        ),
        Jar(
            "io.delta",
            "delta-storage",
            "4.4.0",
            "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc",
        ),
        Jar(
            "io.delta",
            "delta-kernel-api",
            "4.4.0",
            "ee9b5a14ac3b7efdff4d61a58478fe8eb0e5a3fbca43889dca7290795fe79a11",
        ),
        Jar(
            "io.delta",
            "delta-kernel-defaults",
            "4.4.0",
            "225c975199e4718b38ee5b7e6da7f19e9585024262b2cec2656b32151a856b0b",
        ),
        Jar(
            "io.delta",
            "delta-kernel-unitycatalog",
            "4.4.0",
            "cea22dfb4ac562b3cd27bf652697750e8336009d73fb06631363aaaad5345ffa",
        ),
        Jar(
            "io.unitycatalog",
            "unitycatalog-client",
            "0.6.0",
            "48257499a86b801a3e2372cec55ac226ca1c1c7eabe5c118e7302f29a1fdbc19",
        ),
        Jar(
            "io.unitycatalog",
            "unitycatalog-hadoop",
            "0.6.0",
            "c47b63c961c87102b9e1d63809a0915ba4c86b7652f57c8d39ca3a05b441a150",
        ),
        Jar(
            "org.locationtech.jts",
            "jts-core",
            "1.20.0",
            "6a783d8f9dba3d3cf7265435f134402f63c05838aa6cbcc4297ad3a5b2842baf",
        ),
    ),
)
