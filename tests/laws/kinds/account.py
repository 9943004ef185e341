"""Kind account: changes within transactions over two tables, which count once their commit is there.

The rows are in two tablets, each with a log of its own, so that positions of different tablets cannot be compared; a
truncate is for the rows of its tablet. What the source says of transactions differs from history to history: whether it
marks their beginnings, whether a commit knows of how many changes it consists, and whether changes take effect at their
commit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.laws.drawn.histories import VALUES
from tests.laws.kinds.source import Source
from tests.laws.oracle.oracle import Event, Image, LogPosition, Table, Transaction

ACCOUNT = Table(
    "account",
    ("case_id", "id"),
    {"case_id": "string", "id": "int", "balance": "bigint", "owner": "string"},
)
CARD = replace(ACCOUNT, name="card")
TABLETS = ("a", "b")


class _Open:
    """A transaction under way."""

    def __init__(self, identifier: str, first: int) -> None:
        self.id, self.changes, self.ordinal = identifier, 0, first


class _Accounts(Source):
    def __init__(self, rng: Random, case: str) -> None:
        super().__init__(rng, case)
        self.ids = ["1", "2", "3", "10"][: rng.randint(1, 4)]
        self.has_begin, self.at_commit = rng.random() < 0.5, rng.random() < 0.5
        # A stream that says nothing at all of where a transaction ends in its windows is rare.
        self.tells = rng.choice([0.0, 0.5, 1.0, 1.0])
        self.open: list[_Open] = []
        self.begun = 0
        self.table, self.tablet = ACCOUNT.name, TABLETS[0]
        self.logs = {tablet: self.draw_log() for tablet in TABLETS}
        self.rows: dict[tuple[str, str], Image] = {}

    def draw_log(self) -> LogPosition:
        return (self.rng.choice([5, 95, 990, 99_999_990]),)

    def advance(self) -> None:
        number = self.logs[self.tablet][0] + self.rng.randint(1, 9)
        self.logs[self.tablet] = (number,)
        self.now_ms += 1000

    @property
    def log_position(self) -> LogPosition:
        return (self.epoch, 1, *self.logs[self.tablet])

    def record(self, operation: str, effect: str, before: Image, after: Image) -> None:
        """A change: of one of the open transactions, or of none."""
        scope = self.scoped() if operation == "truncate" else None
        ops = {"balance": self.rng.choice(["Add", "Minus"])} if self.chance(0.6) else {}
        # A key change only overwrites columns, because an addition would start from another row's value.
        ops = ops if effect == "update" and not before and after.get("balance") else {}
        part_of = self.rng.choice(self.open) if self.open and self.chance(0.8) else None
        log_position = self.log_position
        if part_of:
            part_of.changes += 1
            part_of.ordinal += 1
            log_position = (part_of.ordinal,) if self.at_commit else log_position
        # Numbers begin again with every transaction, so positions do not tell its changes apart.
        own = (part_of.id, str(part_of.ordinal)) if part_of else (str(len(self.events)),)
        self.emit(
            self.table, operation, effect, before, after,
            log_position=log_position, scope=scope, attribute_ops=ops, stream=self.stream,
            transaction=self.terms(part_of) if part_of else None,
            identity=("change", self.case, *own),
        )  # fmt: skip

    def control(self, effect: str, transaction: Transaction) -> None:
        self.emit(
            self.table, effect, effect, {}, {},
            stream=self.stream, transaction=transaction, identity=(transaction.id, effect),
        )  # fmt: skip

    def terms(self, part_of: _Open, expected: int | None = None) -> Transaction:
        return Transaction(part_of.id, expected, self.has_begin, self.at_commit)

    @property
    def stream(self) -> str:
        return f"tablet-{self.case}/{self.tablet}"

    def key(self, identifier: str) -> Image:
        return self.scoped(id=identifier)

    def pick(self) -> str:
        """A row, which decides whose tablet's turn it is."""
        identifier = self.rng.choice(self.ids)
        self.tablet = TABLETS[int(identifier) % 2]
        return identifier

    def balance(self) -> str:
        return self.rng.choice(["1", "5", "100", "-3", "9223372036854775807"])

    def row(self, identifier: str) -> Image:
        invented: Image = {"balance": self.balance(), "owner": self.rng.choice(VALUES["c2"])}
        return self.key(identifier) | self.rows.get((self.table, identifier), invented)


def _begin(source: _Accounts) -> None:
    source.begun += 1
    begun = _Open(f"{source.case}/tx{source.begun}", source.rng.choice([0, 0, 8]))
    source.open.append(begun)
    if source.has_begin:
        source.control("begin", source.terms(begun))


def _end(source: _Accounts) -> None:
    """Commit a transaction; or lose its commit, or one of the changes that the commit counts."""
    if not source.open:
        return
    ending = source.open.pop(source.rng.randrange(len(source.open)))
    if source.chance(0.15):
        return
    lost = source.chance(0.15)
    expected = ending.changes + lost if source.chance(source.tells) else None
    source.control("commit", source.terms(ending, expected))


def _replace(source: _Accounts) -> None:
    identifier = source.pick()
    source.rows[source.table, identifier] = row = source.row(identifier)
    source.record("insert", "replace", {}, row)


def _set(source: _Accounts) -> None:
    """Some columns overwritten, or something added to the balance."""
    key = source.key(source.pick())
    column = source.rng.choice(["balance", "balance", "owner"])
    value = source.balance() if column == "balance" else source.rng.choice(VALUES["c2"])
    source.record("update", "update", {}, key | {column: value})


def _update(source: _Accounts) -> None:
    identifier = source.pick()
    before = source.row(identifier)
    after = before | {"balance": source.balance()}
    source.rows[source.table, identifier] = after
    source.record("update", "update", before, after)


def _remove(source: _Accounts) -> None:
    identifier = source.pick()
    source.rows.pop((source.table, identifier), None)
    source.record("delete", "remove", source.key(identifier), {})


def _move(source: _Accounts) -> None:
    """A key change is one event of its transaction, although it changes two keys."""
    old, new = source.rng.sample([*source.ids, "7"], 2)
    row = source.row(old) if source.chance(0.5) else source.key(old)
    after = row if source.chance(0.5) else {}
    source.record("update", "update", row, after | {"id": new})


def _truncate(source: _Accounts) -> None:
    source.record("truncate", "remove", {}, {})


_ACTIONS: list[Callable[[_Accounts], None]] = [
    _begin, _begin, _begin, _end, _end, _end, _replace, _replace, _replace, _set, _set, _set, _set,
    _update, _update, _remove, _move, _truncate,
]  # fmt: skip


def history(rng: Random, case: str, events: int) -> list[Event]:
    """As many events of one case as ``events`` says; what is not committed by then never is."""
    source = _Accounts(rng, case)
    while len(source.events) < events:
        source.table = rng.choice([ACCOUNT.name, ACCOUNT.name, CARD.name])
        source.tablet = rng.choice(TABLETS)
        source.drift()
        rng.choice(_ACTIONS)(source)
    return source.events[:events]
