"""Every error that Weir raises on purpose: its message says whose it is, what was found and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from transforms.addresses import without_credentials
from transforms.display import one_line


class WeirError(Exception):
    """Root of the family: its text is meant for the person who runs Weir."""

    def __str__(self) -> str:
        """One or more lines, with no credentials of an address, and of which no character acts on a terminal."""
        return "\n".join(one_line(without_credentials(str(line))) for line in self.args)


class FeedMisdeclared(WeirError):
    """A feed file says something that Weir does not know or cannot use; ``at``: its line and column, where known."""

    def __init__(self, file: str, key: str, fault: str, known: Iterable[str] = (), at: str = ""):
        self.file, self.key, self.fault, self.known = file, key, fault, tuple(known)
        hint = f" Known: {', '.join(self.known)}." if self.known else ""
        super().__init__(f"{file}: {at}{key}: {fault}.{hint}")


class FeedFaults(FeedMisdeclared):
    """Several faults of one feed file, ``faults``: all that can be found at once; the rest is the first one's."""

    def __init__(self, faults: Sequence[FeedMisdeclared]) -> None:
        first = faults[0]
        super().__init__(first.file, first.key, first.fault, first.known)
        self.faults = tuple(faults)
        lines = [f"  {str(fault).removeprefix(f'{first.file}: ')}" for fault in faults]
        self.args = (f"{first.file}: {len(faults)} faults:", *lines)


class SettingMisdeclared(WeirError):
    """A variable of the environment, or an option, says what Weir cannot use, or too little for what there is."""

    def __init__(self, name: str, value: str, fault: str) -> None:
        self.name = name
        super().__init__(f"{name}={value}: {fault}")


class UnreadableLanding(WeirError):
    """The place where drops land cannot be listed or read."""

    def __init__(self, feed: str, landing: str, fault: str, remedy: str) -> None:
        self.landing, self.fault, self.remedy = landing, fault, remedy
        super().__init__(f"feed {feed}: cannot read {landing}: {fault}. {remedy}")


class UnreadableSource(WeirError):
    """The live source of a feed cannot be asked, or nothing says where it is."""

    def __init__(self, feed: str, fault: str, remedy: str) -> None:
        self.fault, self.remedy = fault, remedy
        super().__init__(f"feed {feed}: cannot ask its source: {fault}. {remedy}")


class CatalogueAway(WeirError):
    """A catalogue does not answer, or refuses whoever asks; gold itself has nothing to do with it."""

    def __init__(self, catalogue: str, fault: str) -> None:
        remedy = (
            "Gold is right all the same: the next run tries again, and `weir register` does at once"
        )
        super().__init__(f"catalogue {catalogue}: {fault}. {remedy}.")


class TableRefused(WeirError):
    """A catalogue will not have one table, for the reason that it gives."""


class LandingAway(UnreadableLanding):
    """A landing that could not be read, and may be readable a little later though nobody does anything."""


class FormatUnclear(WeirError):
    """Drops are of no format that Weir knows, or of several, or may be of several: ``candidates``."""

    def __init__(self, landing: str, fault: str, candidates: Iterable[str], remedy: str) -> None:
        self.landing, self.candidates = landing, tuple(candidates)
        super().__init__(f"{landing}: {fault}. {remedy}")


class OffsetsLost(WeirError):
    """Kafka has deleted records that were never read: ``lost`` is how many offsets, by partition."""

    def __init__(self, feed: str, lost: Mapping[str, int], earliest: Mapping[str, int]) -> None:
        self.lost = dict(lost)
        each = "; ".join(
            f"{name}: {count:,} offsets, {earliest[name] - count:,} to {earliest[name] - 1:,}"
            for name, count in sorted(lost.items())
        )
        accepted = ", ".join(f"{name}: {earliest[name]}" for name in sorted(lost))
        super().__init__(
            f"feed {feed}: Kafka has deleted {sum(lost.values()):,} offsets that were never read ({each}). "
            "Nothing was read. If they can be had elsewhere, bring them back first; to go on without them, write "
            f"`accept_loss: {{{accepted}}}` into the feed file: what lies below these offsets is given up."
        )


class UnreadableWarehouse(WeirError):
    """The place where the tables are cannot be reached."""

    def __init__(self, warehouse: str, fault: str, remedy: str) -> None:
        super().__init__(f"cannot read the warehouse {warehouse}: {fault}. {remedy}")


class RecordFailed(WeirError):
    """A record that Weir cannot even quarantine: because of a defect of Weir, or because it needs too much memory."""

    def __init__(self, feed: str, object_name: str, line: int, fault: str) -> None:
        self.object, self.line = object_name, line
        where = (f" at {object_name}" if object_name else "") + (f", line {line}" if line else "")
        super().__init__(
            f"feed {feed}: reading stopped{where}: {fault}. Nothing was written. Please report it, with that record; to"
            " go on without it, remove the record and land the object under another name."
        )


class WorkerLost(WeirError):
    """A Python worker of Spark's ended in the middle of its task: somebody killed it, or the system for its memory."""

    def __init__(self) -> None:
        super().__init__(
            "a Python worker of Spark's was killed in the middle of its work, as systems do that are short of memory. "
            "Nothing is half-written: run again. If it dies again, give it more memory or fewer neighbours "
            "(WEIR_SPARK_MASTER=local[1]), or bound what it reads at once (WEIR_LARGEST_OBJECT)."
        )


class WorkerStill(WeirError):
    """A Python worker of Spark's took and gave nothing for minutes, and Spark has ended it."""

    def __init__(self) -> None:
        super().__init__(
            "a Python worker of Spark's stood still for half an hour and was ended. Nothing is half-written: "
            "run again. The connection between it and Java had stopped, or one record takes that long: if it happens "
            "again at the same place, report it."
        )


class SparkLost(WeirError):
    """Spark's Java process ended in the middle of its work: its memory was full, or somebody killed it."""

    def __init__(self) -> None:
        super().__init__(
            "Spark's Java process ended in the middle of its work, as it does when its memory is full. Nothing is "
            "half-written: run again. If it ends again, give it more memory (WEIR_SPARK_DRIVER_MEMORY=8g, say: of a "
            "record of many megabytes it holds several copies) or fewer tasks at once (WEIR_SPARK_MASTER=local[1])."
        )


class ClusterAway(WeirError):
    """No session could be started on the cluster that ``WEIR_SPARK_MASTER`` names."""

    def __init__(self, master: str) -> None:
        super().__init__(
            f"no session could be started on {master}: nobody answers there, or the cluster does not let this session "
            "in. See that WEIR_SPARK_MASTER is right and that its master runs; where it asks for a secret "
            "(spark.authenticate), see that spark-defaults.conf in the folder of SPARK_CONF_DIR has the same one. "
            "Nothing was read or written."
        )


class UnknownHeader(WeirError):
    """A CSV file begins with a header whose names do not say which column each field is."""

    def __init__(self, feed: str, object_name: str, header: str, expected: str) -> None:
        self.object = object_name
        super().__init__(
            f"feed {feed}: {object_name}, line 1: the header is not understood: {header!r}. "
            f"Expected {expected}. Rename the columns, or write the files without a header."
        )


class OtherDelimiter(WeirError):
    """A CSV file has another delimiter than the feed file says, or than the usual one."""

    def __init__(self, feed: str, object_name: str, table: str, had: str, found: str) -> None:
        self.feed, self.object, self.table, self.found = feed, object_name, table, found
        names = {"\t": '"\\t"', "\x01": '"\\x01"'}
        had, found = (names.get(one, f'"{one}"') for one in (had, found))
        super().__init__(
            f"feed {feed}: {object_name}, line 1: with {had} between the fields the row is a single one, and"
            f" with {found} it has as many as table {table}. Nothing was read. Write `csv: {{delimiter: {found}}}`"
            f" into the feed file, for all tables or for this one (below `tables: {{{table}: …}}`)."
        )


class TableNameCollision(WeirError):
    """Two tables of the source would become one gold table."""

    def __init__(self, feed: str, table: str, sources: Iterable[str]) -> None:
        self.sources = tuple(sources)
        super().__init__(
            f"feed {feed}: gold table {table!r} would mix {' and '.join(self.sources)}. "
            "Set table_names: schema (or catalog) in the feed file so that each has a table of its own; or declare "
            "only the one that counts, by its whole name: events of the others then stay out of gold."
        )


class WindowOutOfRange(WeirError):
    """What ``--windows`` says is none of a feed's windows: ``window`` is the text, or the first that is none."""

    def __init__(self, feed: str, window: str, fault: str) -> None:
        super().__init__(f"feed {feed}: --windows {window}: {fault}")


class WindowSizeChanged(WeirError):
    """A feed's windows have another length than those in which its drops were read."""

    def __init__(self, feed: str, size: str, window: str) -> None:
        other = {"hour": "day", "day": "hour"}[size]
        super().__init__(
            f"feed {feed}: window: {size}: bronze was read by the {other}, window {window} for one. "
            f"Set `window: {other}` again; or give the feed file another name, which reads every drop again."
        )


class QueryRefused(WeirError):
    """A statement given to ``weir query`` cannot be run."""

    def __init__(self, what: str, fault: str, known: Iterable[str] = ()) -> None:
        self.fault = fault
        forms = "bronze.<feed>, silver.<feed>, quarantine.<feed>, gold.<feed>.<table>"
        super().__init__(f"{what}: {fault}. Tables: {', '.join(known) or forms}.")


class CutRefused(WeirError):
    """A question about a position of the source that no recorded cut answers."""

    def __init__(self, feed: str, fault: str) -> None:
        self.fault = fault
        super().__init__(f"feed {feed}: no cut answers: {fault}." if feed else f"{fault}.")


class UnknownKey(WeirError):
    """A command asks for a row by a table or a key that does not exist: the message says which do."""


class DecisionRefused(WeirError):
    """A decision that cannot be recorded."""

    def __init__(self, feed: str, fault: str) -> None:
        self.fault = fault
        super().__init__(f"feed {feed}: {fault}")


class ErasureRefused(WeirError):
    """A key that cannot be erased as it was asked for; nothing was changed."""

    def __init__(self, feed: str, fault: str, remedy: str) -> None:
        self.fault, self.remedy = fault, remedy
        super().__init__(f"feed {feed}: {fault}. Nothing was erased. {remedy}")


class SharedRecordsStay(WeirError):
    """Records of erased keys that landed again and hold rows of others, too; all else was taken out."""

    def __init__(self, feed: str, count: int, first: str) -> None:
        super().__init__(
            f"feed {feed}: {count} of the records that landed again hold rows of other keys beside those of erased"
            f" ones, and stay in bronze, the first of them {first}. Silver and gold have nothing of the erased keys."
            " Where the source has changed another key into an erased one, erase that one with `--linked`."
        )


class ErasureNotFinished(WeirError):
    """An interrupted erasure whose gold table has another name by now, or none; what was erased stays so."""

    def __init__(self, feed: str, erasure: str, table: str) -> None:
        super().__init__(
            f"feed {feed}: erasure {erasure} is of the gold table {table}, which this feed file does not make any more,"
            " so that nobody can tell where its rows are, and it is not finished. What was erased stays so. Give the"
            " feed file the table back as it was (its name, `table_names`), let the erasure be finished, and change it"
            " then."
        )


class TableNotErased(WeirError):
    """A table out of which nothing can be erased; what was erased from others stays so."""

    def __init__(self, table: str, fault: str) -> None:
        super().__init__(
            f"{table}: nothing can be erased from it: {fault}. Weir gives its tables no such feature: make the table"
            " again (`weir rebuild` makes silver and gold), then give the same `weir erase` again."
        )


class CompactionRefused(WeirError):
    """Base rows and newer changes do not make the gold table; ``behind``: windows in silver, perhaps not in gold."""

    def __init__(self, feed: str, table: str, keys: Iterable[str], behind: Sequence[str] = ()):
        remedy = (
            f"Nothing was changed. {len(behind)} windows are not in gold yet, {behind[0]} first: "
            f"`weir run --feed {feed}`, or see why that run stops; then compact again."
            if behind
            else "Nothing was changed; `weir explain` shows a row's events, `weir rebuild` makes the table from bronze."
        )
        super().__init__(
            f"feed {feed}: gold table {table} was not compacted: folding its history does not give the rows that it "
            f"has, for example for the keys {', '.join(keys)}. {remedy}"
        )


class GoldBehind(WeirError):
    """A gold table was made before the feed file said what it says now."""

    def __init__(self, feed: str, table: str) -> None:
        super().__init__(
            f"gold.{feed}.{table} is missing, or was made under another declaration than the feed file has now. "
            f"`weir run --feed {feed}` first; a column with a `since` in the future comes with its window."
        )


class RebuildRefused(WeirError):
    """Bronze does not hold everything that the tables were made from."""

    def __init__(self, feed: str, windows: Sequence[str]) -> None:
        super().__init__(
            f"feed {feed}: bronze has no records of {len(windows)} windows that silver was made from, "
            f"{windows[0]} first: a rebuild would lose them. Nothing was changed; bring them back."
        )


class RebuildStopped(WeirError):
    """A rebuild has made silver from bronze again, and gold may not follow: it is unchanged."""

    def __init__(self, feed: str, why: str, remedy: str) -> None:
        super().__init__(f"feed {feed}: silver is rebuilt, gold is unchanged: {why} {remedy}")


class TableBusy(WeirError):
    """Another run is writing this table: ``holder``, where known, for so many more ``seconds`` unless it goes on."""

    def __init__(self, table: str, holder: str = "", seconds: float = 0.0) -> None:
        self.table, self.seconds = table, seconds
        super().__init__(
            f"{table}: another run is writing the same windows or tables now{f' ({holder})' if holder else ''}, and "
            "this one has stopped without harm. Run again once the other has ended: what it has done is not done twice."
        )


class LeaseLost(WeirError):
    """This process was held up for longer than its lease on a table, and another has taken it."""

    def __init__(self, table: str, seconds: int, holder: str) -> None:
        self.table, self.holder = table, holder
        super().__init__(
            f"{table}: this run has lost its lease on the table: for more than {seconds} s it did not renew it, and "
            f"now {holder}. It has stopped without harm. Run again once the other has ended."
        )


class NoConditions(WeirError):
    """The store of the warehouse ignores the conditions of a write, so that two writers could not be kept apart."""

    def __init__(self, bucket: str) -> None:
        self.bucket = bucket
        super().__init__(
            f"the store of the bucket {bucket} ignores conditional writes (If-None-Match, If-Match): two runs could "
            "overwrite each other's commits there. Keep the tables in a store that honours them, or in a folder."
        )


class NoLocks(WeirError):
    """The tables are where two runs that write one of them could not be kept apart."""

    def __init__(self, warehouse: str, fault: str) -> None:
        self.warehouse, self.fault = warehouse, fault
        super().__init__(
            f"the warehouse {warehouse} cannot be locked: {fault}, so that two runs could overwrite each other's "
            "tables. Nothing was written. Keep the tables on a local disk, mount this one with locks (NFS: without "
            "nolock), or use s3://bucket/prefix."
        )


class WarehouseFull(WeirError):
    """There is no room for what a run writes."""

    def __init__(self, table: str, free: str) -> None:
        advice = "Make room, then run again: nothing is half-written."
        super().__init__(f"{table}: no space left on device: {free}. {advice}")


class UnwritableWarehouse(WeirError):
    """The folder in which the tables are to be cannot be made, or nothing can be written in it."""

    def __init__(self, warehouse: str, path: str, fault: str) -> None:
        advice = "Nothing was written. Name another folder, or give whoever runs this the right to write there."
        super().__init__(f"cannot write the warehouse {warehouse}: {path}: {fault}. {advice}")


class HistoryFailed(WeirError):
    """The database in which Dagster keeps the history of runs refuses what a run has to write."""

    def __init__(self, home: str, fault: str) -> None:
        super().__init__(
            f"the history of runs in {home} cannot be written: {fault}. Make room there, or name another folder in "
            "DAGSTER_HOME; then run again: in the tables nothing is half-written."
        )


class WarehouseFailed(WeirError):
    """The store that keeps the tables answers with an error."""

    def __init__(self, table: str, warehouse: str, fault: str) -> None:
        super().__init__(
            f"{table}: the warehouse {warehouse} failed: {fault}. "
            "Run again; if it stays so, ask whoever runs the store. Nothing is half-written."
        )


class SchemaChangeRefused(WeirError):
    """The source's schema, or its declaration, changed in a way that the feed file does not take."""

    def __init__(self, feed: str, table: str, kind: str, found: str, remedy: str) -> None:
        super().__init__(f"feed {feed}: table {table}: {kind}: {found}. {remedy}")


class KeyDrift(WeirError):
    """The key that a table is declared with is not the key of its rows."""

    def __init__(self, feed: str, table: str, key: Iterable[str], found: str, remedy: str) -> None:
        declared = f"its key is declared as [{', '.join(key)}]"
        super().__init__(f"feed {feed}: table {table}: {declared}, but {found}. {remedy}")


class TablesFailed(WeirError):
    """Some gold tables of a feed failed: ``faults`` says why, by table; an error not Weir's own is the cause."""

    def __init__(self, feed: str, faults: Mapping[str, str]) -> None:
        self.faults = faults
        many = f"{len(faults)} gold tables" if len(faults) > 1 else "a gold table"
        listed = "\n".join(f"- {one_line(table)}: {faults[table]}" for table in sorted(faults))
        super().__init__(f"{many} of {feed} failed; the others are done:", *listed.split("\n"))
