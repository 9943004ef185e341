"""A real Hive Metastore for tests: the one in pyspark's own jars, over Thrift on loopback, with Derby in a folder."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark
from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from orchestration.spark.java import find_java
from tests.services.kafka import JVM, free_ports
from tests.services.seen_tables import SeenTable
from tests.services.server_process import ServerProcess

# Hive is of the time before Java had modules.
OPENED = ("java.lang", "java.net", "java.nio", "java.util", "java.util.concurrent")
SETTINGS = {
    # Else it wants a library that pyspark does not have.
    "hive.async.log.enabled": "false",
    "javax.jdo.option.ConnectionURL": "jdbc:derby:;databaseName={folder}/derby;create=true",
    "datanucleus.schema.autoCreateAll": "true",
    "hive.metastore.schema.verification": "false",
    "hive.metastore.warehouse.dir": "file://{folder}/warehouse",
}


@dataclass(slots=True)
class HiveMetastore(ServerProcess):
    """A Metastore in its folder, running or not."""

    NAME = "the Metastore"

    port: int

    @property
    def setting(self) -> str:
        """What ``WEIR_CATALOGUES`` says of it."""
        return f"hive://127.0.0.1:{self.port}"

    @property
    def uri(self) -> str:
        """What Spark knows it by."""
        return f"thrift://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        jars = Path(pyspark.__file__).parent / "jars"
        opened = [f"--add-opens=java.base/{one}=ALL-UNNAMED" for one in OPENED]
        self.launch(
            [
                *(str(find_java().program), "-Xmx512m", *JVM, *opened),
                f"-Dderby.stream.error.file={self.folder}/derby.log",
                *("-cp", f"{self.folder}{os.pathsep}{jars}/*"),
                *("org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(self.port)),
            ],
            self._is_listening,
        )

    def _is_listening(self) -> bool:
        socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        return True

    def table(self, schema: str, name: str) -> SeenTable:
        """What it says of a table."""
        with closing(TBufferedTransport(TSocket("127.0.0.1", self.port))) as transport:
            transport.open()
            asked = ThriftHiveMetastore.Client(TBinaryProtocol(transport))
            found = asked.get_table(schema, name)
            keys = asked.get_primary_keys(ttypes.PrimaryKeysRequest(schema, name)).primaryKeys
        assert found.tableType == "EXTERNAL_TABLE"
        return SeenTable(
            # Where Spark and Trino find it; the other one it writes in Hadoop's way, as `file:/…`.
            location=found.sd.serdeInfo.parameters["path"],
            comment=found.parameters["comment"],
            columns=[(one.name, one.type, one.comment) for one in found.sd.cols],
            properties=found.parameters,
            key=[one.column_name for one in sorted(keys, key=lambda one: int(one.key_seq))],
            changed_at=found.parameters["transient_lastDdlTime"],
        )

    def set_property(self, schema: str, name: str, key: str, value: str) -> None:
        """What a person does who notes something of a table."""
        with closing(TBufferedTransport(TSocket("127.0.0.1", self.port))) as transport:
            transport.open()
            asked = ThriftHiveMetastore.Client(TBinaryProtocol(transport))
            found = asked.get_table(schema, name)
            found.parameters[key] = value
            asked.alter_table(schema, name, found)


@contextmanager
def running_metastore(folder: Path) -> Iterator[HiveMetastore]:
    """A Metastore that keeps everything in the folder."""
    (port,) = free_ports(1)
    of_file = "".join(
        f"<property><name>{name}</name><value>{value.format(folder=folder)}</value></property>"
        for name, value in SETTINGS.items()
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hive-site.xml").write_text(f"<configuration>{of_file}</configuration>")
    metastore = HiveMetastore(folder, port)
    metastore.start()
    try:
        yield metastore
    finally:
        metastore.stop()
