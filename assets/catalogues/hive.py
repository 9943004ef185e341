"""Hive's Metastore, by its Thrift interface: Hive 2.3 and newer, and whatever else speaks it.

https://github.com/apache/hive/blob/master/standalone-metastore/metastore-common/src/main/thrift/hive_metastore.thrift
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TApplicationException, TException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

from assets.catalogues.client import SECONDS
from transforms.catalogue import Catalogue, Entry, HiveTable, Stored, hive_table
from transforms.errors import CatalogueAway, TableRefused

OWNER: Final = "weir"

# What it writes of a server that does not answer is said by the error that is raised.
logging.getLogger(TSocket.__module__).setLevel(logging.CRITICAL)


@contextmanager
def hive_client(catalogue: Catalogue) -> Iterator[HiveMetastore]:
    """A connection to it, which is closed behind.

    Raises:
        CatalogueAway: nothing answers there, or something that is no Metastore.
    """
    host, _, port = catalogue.place.rpartition(":")
    socket = TSocket(host.strip("[]"), int(port))
    socket.setTimeout(SECONDS * 1000)
    transport = TBufferedTransport(socket)
    try:
        transport.open()
        yield HiveMetastore(catalogue, ThriftHiveMetastore.Client(TBinaryProtocol(transport)))
    except (TTransportException, OSError, EOFError) as fault:
        raise CatalogueAway(str(catalogue), f"it does not answer: {_said(fault)}") from fault
    except TException as fault:
        raise CatalogueAway(str(catalogue), f"it answers {_said(fault)}") from fault
    finally:
        transport.close()


@dataclass(frozen=True, slots=True)
class HiveMetastore:
    """One Metastore over one connection."""

    catalogue: Catalogue
    thrift: Any

    def tables(self, schema: str) -> Mapping[str, Stored]:
        """All tables of a database, by name; none where there is no such database."""
        if not self._has(schema):
            return {}
        names = self.thrift.get_all_tables(schema)
        asked = ttypes.GetTablesRequest(dbName=schema, tblNames=names)
        found = self.thrift.get_table_objects_by_name_req(asked).tables if names else []
        return {one.tableName: _stored(one) for one in found}

    def add(self, entry: Entry) -> None:
        """Create the table, and its database where that is missing."""
        try:
            if not self._has(entry.schema):
                self._create_database(entry.schema)
            self.thrift.create_table(_table(entry, hive_table(entry, {})))
            self._key(entry)
        except _REFUSALS as fault:
            raise TableRefused(_said(fault)) from fault

    def change(self, entry: Entry, stored: Stored) -> None:
        """Alter the table; create it again where the Metastore will not have its columns altered so."""
        table = _table(entry, hive_table(entry, stored.properties))
        names = entry.schema, entry.name
        quiet = ttypes.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})
        try:
            self._drop_other_key(entry)
            try:
                self.thrift.alter_table_with_environment_context(*names, table, quiet)
            except ttypes.InvalidOperationException:
                # By its defaults it lets no column take the place of one of another type. The files stay.
                self.thrift.drop_table(*names, False)
                self.thrift.create_table(table)
            self._key(entry)
        except _REFUSALS as fault:
            raise TableRefused(_said(fault)) from fault

    def _has(self, schema: str) -> bool:
        try:
            self.thrift.get_database(schema)
        except ttypes.NoSuchObjectException:
            return False
        return True

    def _create_database(self, schema: str) -> None:
        # Without a place, so that the Metastore gives it one: were it gold's folder, dropping the database would
        # remove that.
        self.thrift.create_database(
            ttypes.Database(
                name=schema,
                description="Gold of Weir.",
                parameters={},
                ownerName=OWNER,
                ownerType=ttypes.PrincipalType.USER,
            )
        )

    # Keys as constraints, which Metastores have since Hive 2.1, and which nothing enforces.

    def _primary_key(self, entry: Entry) -> Sequence[Any]:
        asked = ttypes.PrimaryKeysRequest(db_name=entry.schema, tbl_name=entry.name)
        try:
            found = self.thrift.get_primary_keys(asked).primaryKeys or []
        except (
            TApplicationException
        ):  # one that has no constraints; the key is among the properties, too
            return ()
        return sorted(found, key=lambda one: int(one.key_seq))

    def _is_current(self, entry: Entry, found: Sequence[Any]) -> bool:
        return [one.column_name for one in found] == [name.lower() for name in entry.key]

    def _drop_other_key(self, entry: Entry) -> None:
        found = self._primary_key(entry)
        if found and not self._is_current(entry, found):
            self.thrift.drop_constraint(
                ttypes.DropConstraintRequest(
                    dbname=entry.schema, tablename=entry.name, constraintname=found[0].pk_name
                )
            )

    def _key(self, entry: Entry) -> None:
        if not entry.key or self._is_current(entry, self._primary_key(entry)):
            return
        columns = [
            ttypes.SQLPrimaryKey(
                table_db=entry.schema,
                table_name=entry.name,
                column_name=name.lower(),
                key_seq=at,
                enable_cstr=False,
                validate_cstr=False,
                # Weir holds it, so that a planner may rely on it.
                rely_cstr=True,
            )
            for at, name in enumerate(entry.key, 1)
        ]
        try:
            self.thrift.add_primary_key(ttypes.AddPrimaryKeyRequest(primaryKeyCols=columns))
        except TApplicationException:
            return


_REFUSALS: Final = (
    ttypes.AlreadyExistsException,
    ttypes.InvalidObjectException,
    ttypes.InvalidOperationException,
    ttypes.InvalidInputException,
    ttypes.MetaException,
    ttypes.NoSuchObjectException,
)


def _said(fault: BaseException) -> str:
    return str(getattr(fault, "message", None) or fault)


def _stored(table: Any) -> Stored:
    serde = table.sd.serdeInfo.parameters or {} if table.sd and table.sd.serdeInfo else {}
    # Where Spark has made the table, what its storage names may be a folder of Hive's own that nothing is in.
    location = serde.get("path") or (table.sd.location if table.sd else "") or ""
    return Stored(location, table.parameters or {})


def _table(entry: Entry, shape: HiveTable) -> Any:
    return ttypes.Table(
        tableName=entry.name,
        dbName=entry.schema,
        owner=OWNER,
        createTime=0,
        lastAccessTime=0,
        retention=0,
        partitionKeys=[],
        parameters=dict(shape.parameters),
        tableType="EXTERNAL_TABLE",
        sd=ttypes.StorageDescriptor(
            cols=[ttypes.FieldSchema(name, kind, comment) for name, kind, comment in shape.columns],
            location=shape.location,
            inputFormat=shape.input_format,
            outputFormat=shape.output_format,
            compressed=False,
            numBuckets=-1,
            serdeInfo=ttypes.SerDeInfo(
                serializationLib=shape.serde, parameters=dict(shape.serde_parameters)
            ),
            bucketCols=[],
            sortCols=[],
            parameters={},
        ),
    )
