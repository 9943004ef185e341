"""The database that a feed's changes come from: where it is, who asks it, and answers to questions that only read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from transforms.errors import SettingMisdeclared, UnreadableSource
from transforms.feed.feed import Feed

PREFIX: Final = "WEIR_SOURCE"
SECONDS: Final = 15
"""How long the server may take to answer."""

_ADDRESS: Final = re.compile(
    r"(postgres(?:ql)?|mysql|mariadb)://([^/?#\s@:]+)(?::([0-9]{1,5}))?/([^/?#\s@]+)", re.ASCII
)
_KINDS: Final = {"postgres": "postgresql", "mariadb": "mysql"}
KNOWN: Final = (
    "postgresql://host:port/database, mysql://host:port/database or mariadb://host:port/database"
)


class Password(str):
    """A secret, which no ``repr`` shows."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Nothing of it."""
        return "'…'"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is, and who asks: a secret is in no text of it.

    ``kind``: ``postgresql`` or ``mysql``. ``authority``: a file of certificates by which the server is known.
    """

    kind: str
    host: str
    port: int | None
    database: str
    user: str | None = None
    password: Password | None = None
    authority: str | None = None

    def __str__(self) -> str:
        """The address as a feed file has it."""
        port = f":{self.port}" if self.port else ""
        return f"{self.kind}://{self.host}{port}/{self.database}"

    @property
    def is_postgres(self) -> bool:
        """Whether it is a Postgres; else it is a MySQL or MariaDB."""
        return self.kind == "postgresql"


def is_source(text: str) -> bool:
    """Whether a text says where a database is that Weir can ask, and nothing else."""
    return _ADDRESS.fullmatch(text) is not None


def is_told(feed: Feed, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether anything says where the feed's source is."""
    return bool(environment.get(_own(feed)) or feed.running.source)


def address_of(feed: Feed, environment: Mapping[str, str] = os.environ) -> Address:
    """Where the feed's source is, by its file, or by ``WEIR_SOURCE_<FEED>``; who asks is in the environment alone.

    ``WEIR_SOURCE_<FEED>_PASSWORD`` goes before ``WEIR_SOURCE_PASSWORD``, and so on.

    Raises:
        UnreadableSource: nothing says where it is.
        SettingMisdeclared: what the environment says is no address.
    """
    own = _own(feed)
    told = environment.get(own) or feed.running.source
    if not told:
        remedy = (
            f"Write `source: postgresql://host:5432/database` into the feed file, or set {own}."
        )
        raise UnreadableSource(feed.name, "nothing says where it is", remedy)
    found = _ADDRESS.fullmatch(told)
    if found is None:
        # Not quoted: it may hold a password.
        fault = f"is not {KNOWN}; set {own}_USERNAME and {own}_PASSWORD"
        raise SettingMisdeclared(own, "…", fault)

    def said(what: str) -> str | None:
        return environment.get(f"{own}_{what}") or environment.get(f"{PREFIX}_{what}") or None

    kind, host, port, database = found.groups()
    password = said("PASSWORD")
    return Address(
        *(_KINDS.get(kind, kind), host, int(port) if port else None, database, said("USERNAME")),
        Password(password) if password else None,
        said("SSL_CA"),
    )


def _own(feed: Feed) -> str:
    return f"{PREFIX}_{feed.name.upper()}"


class Database:
    """An open connection that only reads."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def rows(self, question: str) -> list[dict[str, Any]]:
        """The rows of an answer, by the names of its columns."""
        with self._connection.cursor() as cursor:
            cursor.execute(question)
            names = [one[0] for one in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@contextmanager
def opened(feed: Feed, address: Address) -> Iterator[Database]:
    """A connection until the end of the block; no lock is taken.

    Raises:
        UnreadableSource: the database does not answer, or refuses.
    """
    connection = None
    try:
        connection = _only_reading(address)
        yield Database(connection)
    except _faults() as fault:
        # The cause is left behind: its text may quote how it was called.
        raise UnreadableSource(feed.name, *in_words(fault, address)) from None
    finally:
        if connection is not None:
            with suppress(Exception):
                connection.close()


def _faults() -> tuple[type[Exception], ...]:
    import psycopg2
    import pymysql

    return psycopg2.Error, pymysql.Error


def connection_to(at: Address, **how: Any) -> Any:
    """A new connection by the driver of the database's kind, with ``how`` as what the driver is told besides."""
    # Imported late, as all of the drivers: few commands ask a source.
    import psycopg2
    import pymysql

    known = {"host": at.host, "user": at.user, "connect_timeout": SECONDS, **_tls_of(at)}
    if at.is_postgres:
        own = {"port": at.port, "dbname": at.database, "password": at.password}
        return psycopg2.connect(client_encoding="UTF8", **known, **own, **how)
    password = str(at.password or "")
    own = {"port": at.port or 3306, "database": at.database, "password": password}
    return pymysql.connect(**known, **own, **how)


def _only_reading(at: Address) -> Any:
    """A connection that gives up where an answer takes long."""
    if not at.is_postgres:
        return connection_to(at, read_timeout=SECONDS, program_name="weir", autocommit=True)
    options = f"-c statement_timeout={SECONDS}s"
    connection = connection_to(at, options=options, application_name="weir")
    connection.set_session(readonly=True, autocommit=True)
    return connection


def _tls_of(at: Address) -> dict[str, Any]:
    """What the driver has to be told, so that it speaks with no other server than the one that the authority knows."""
    if at.authority is None:
        return {}
    if at.is_postgres:
        return {"sslmode": "verify-full", "sslrootcert": at.authority}
    return {"ssl_ca": at.authority, "ssl_verify_identity": True}


def in_words(fault: Exception, address: Address) -> tuple[str, str]:
    """What the server or the network said, and what to do."""
    # MySQL's errors are a number and a text.
    said = str(fault.args[-1] if fault.args else fault).strip().splitlines()
    remedy = (
        "Check the address in the feed file (`source`), the network, and WEIR_SOURCE_USERNAME and"
        " WEIR_SOURCE_PASSWORD; docs/source_health.md and docs/reconcile.md say which rights the user needs."
    )
    return f"{address}: {said[0] if said else type(fault).__name__}", remedy
