"""A question in Spark's SQL, written for DuckDB; whatever is not listed here is left to Spark.

Each column gets a name of its own, which no other in the question has, so that no name that a person or a source wrote
reaches DuckDB: what does are words of this module and of ``values``, and literals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from typing import Final, TypeAlias

import pyarrow as pa
from sqlglot import exp

from orchestration.cli.sql import values
from orchestration.cli.sql.values import BOOL, DAY, INT, LONG, TEXT, LeftToSpark, Value, same_name

Name: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A table that a question reads: its name, and where it is asked for as it was, the version or the time."""

    name: Name
    version: int | None = None
    time: datetime | None = None


Given: TypeAlias = "Mapping[str, tuple[exp.CTE, Given]]"


@dataclass(frozen=True, slots=True)
class Column:
    """A column that can be named: the tables that it may be named with, its name, and its value for DuckDB.

    ``in_star``: whether a star has it; of a join with USING it does not have the columns of the other side.
    """

    tables: tuple[Name, ...]
    name: str
    value: Value
    in_star: bool = True


@dataclass(frozen=True, slots=True)
class Rows:
    """What rows come from: DuckDB's words for it, and the columns."""

    sql: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean at one place.

    ``aliases``: what the question calls its own results. ``given``: the questions that WITH has named, each with those
    that were named before it. ``outer``: the same of the question around it.
    """

    columns: tuple[Column, ...] = ()
    aliases: tuple[tuple[str, Value], ...] = ()
    given: Given = field(default_factory=dict)
    outer: Scope | None = None


@dataclass(frozen=True, slots=True)
class Scan:
    """A table that is read: DuckDB's name of it, and which of its columns, which are ``a0``, ``a1`` … there."""

    view: str
    columns: pa.Schema


_GENERATORS: Final = ("explode", "explode_outer", "posexplode", "posexplode_outer")
_COMPARISONS: Final[Mapping[type[exp.Expr], str]] = {
    **{exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="},
    exp.NullSafeEQ: "<=>",
}
_ARITHMETIC: Final[Mapping[type[exp.Expr], str]] = {
    **{exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "div"},
}
_TYPES: Final = {
    **{"BOOLEAN": BOOL, "TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INT": INT, "BIGINT": LONG},
    **{"DOUBLE": values.DOUBLE, "TEXT": TEXT, "DATE": DAY, "TIMESTAMPTZ": values.AT},
}


def _only(node: exp.Expr, *known: str) -> None:
    """Leave to Spark what a node has beside these parts."""
    others = [key for key, value in node.args.items() if value and key not in known]
    if others:
        raise LeftToSpark(f"{node.key} with {', '.join(others)}")


def _whole(node: exp.Expr | None) -> int:
    if not isinstance(node, exp.Literal) or node.is_string or not node.name.isdecimal():
        raise LeftToSpark("a number that is computed")
    return int(node.name)


def _names(nodes: Sequence[exp.Expr]) -> list[str]:
    return [node.name for node in nodes]


@dataclass
class Translation:
    """One question on its way to DuckDB.

    Args:
        schema_of: The columns of a table as it is asked for.
        mentioned: All names in the question in small letters, of which columns are read; None for all columns.
    """

    schema_of: Callable[[Asked], pa.Schema]
    mentioned: frozenset[str] | None
    scans: dict[Asked, Scan] = field(default_factory=dict)
    now: datetime = field(default_factory=lambda: datetime.now(UTC).replace(tzinfo=None))
    _numbers: Iterator[int] = field(default_factory=count)

    def _new(self) -> str:
        return f"c{next(self._numbers)}"

    # Where rows come from.

    def question(self, node: exp.Expr, around: Scope) -> Rows:
        """A whole question: SELECT, a set operation, or one in brackets; ``around``: what names mean around it."""
        with_ = node.args.get("with_")
        if with_ is not None:
            _only(with_, "expressions")
            for one in with_.expressions:
                _only(one, "this", "alias")
                # Each sees those before it, and is translated where it is named; here for the case that none names it.
                self.question(one.this, Scope(given=around.given))
                given = {**around.given, one.alias.lower(): (one, around.given)}
                around = replace(around, given=given)
        if isinstance(node, exp.Subquery):
            _only(node, "this", "with_")
            return self.question(node.this, around)
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, around)
        if not isinstance(node, exp.Select):
            raise LeftToSpark(node.key)
        return self._select(node, around)

    def _set_operation(self, node: exp.SetOperation, around: Scope) -> Rows:
        _only(node, "with_", "this", "expression", "distinct", "order", "limit", "offset")
        distinct = bool(node.args.get("distinct"))
        if not distinct and not isinstance(node, exp.Union):
            raise LeftToSpark(f"{node.key} ALL")
        sides = [self.question(one, around) for one in (node.this, node.expression)]
        a, b = ([column.value for column in side.columns] for side in sides)
        if len(a) != len(b):
            raise LeftToSpark("sides of other widths")
        kinds = [values.widest(one.type, other.type) for one, other in zip(a, b, strict=True)]
        if distinct and not all(values.is_simple(kind) for kind in kinds):
            raise LeftToSpark("distinct values")
        new = [self._new() for _ in kinds]
        selects = []
        for side in sides:
            parts = zip(side.columns, kinds, new, strict=True)
            cells = (
                f"{values.as_type(one.value, kind).sql} AS {name}" for one, kind, name in parts
            )
            selects.append(f"(SELECT {', '.join(cells)} FROM {side.sql})")
        word = node.key.upper() + ("" if distinct else " ALL")
        columns = tuple(
            Column((), column.name, Value(name, kind))
            for column, kind, name in zip(sides[0].columns, kinds, new, strict=True)
        )
        tail = self._tail(node, replace(around, columns=columns, outer=around), new)
        return Rows(f"(SELECT * FROM ({f' {word} '.join(selects)}){tail})", columns)

    def _tail(self, node: exp.Expr, scope: Scope, shown: Sequence[str]) -> str:
        """ORDER BY, LIMIT and OFFSET; ``shown``: what the question has in its columns, for orders by number."""
        parts = []
        if (order := node.args.get("order")) is not None:
            parts.append(self._order(order, scope, shown)[0])
        for key, word in (("limit", "LIMIT"), ("offset", "OFFSET")):
            if (one := node.args.get(key)) is not None:
                _only(one, "expression")
                parts.append(f"{word} {_whole(one.expression)}")
        return "".join(f" {part}" for part in parts)

    def _order(
        self, order: exp.Order, scope: Scope, shown: Sequence[str] = ()
    ) -> tuple[str, str | None]:
        """ORDER BY, and what Spark calls it."""
        _only(order, "expressions")
        parts, names = [], []
        for one in order.expressions:
            _only(one, "this", "desc", "nulls_first")
            if shown and isinstance(one.this, exp.Literal):
                at = _whole(one.this)
                if not 1 <= at <= len(shown):
                    raise LeftToSpark("a column that is not there")
                value = Value(shown[at - 1], INT)
            else:
                value = self.value(one.this, scope)
                if not values.is_ordered(value.type):
                    raise LeftToSpark(f"an order of {value.type}")
            way = "DESC" if one.args.get("desc") else "ASC"
            nulls = f"{way} NULLS {'FIRST' if one.args.get('nulls_first') else 'LAST'}"
            parts.append(f"{value.sql} {nulls}")
            names.append(value.name and f"{value.name} {nulls}")
        name = f"ORDER BY {', '.join(map(str, names))}" if all(names) else None
        return f"ORDER BY {', '.join(parts)}", name

    def _from(self, node: exp.Select, around: Scope) -> Rows:
        source = node.args.get("from_")
        if source is None:
            return Rows("(SELECT 1)", ())
        _only(source, "this")
        rows = self._item(source.this, around)
        joins = [*source.this.args.get("joins", ()), *node.args.get("joins", ())]
        kinds = [join.args.get("kind") == "CROSS" for join in joins]
        if kinds != sorted(kinds):
            # Behind a comma Spark makes the joins first, which sqlglot does not tell from CROSS JOIN.
            raise LeftToSpark("a join behind a comma")
        for join in joins:
            rows = self._join(rows, join, around)
        for lateral in node.args.get("laterals", ()):
            rows = self._lateral(rows, lateral)
        return rows

    def _item(self, node: exp.Expr, around: Scope) -> Rows:
        """A table, or a question in the place of one, with its alias."""
        if isinstance(node, exp.Table):
            _only(node, "this", "db", "catalog", "alias", "version", "joins")
            rows, tables = self._table(node, around.given)
        elif isinstance(node, exp.Subquery):
            _only(node, "this", "alias", "with_", "joins")
            inner = node.copy()
            inner.set("alias", None)
            inner.set("joins", None)
            rows, tables = self.question(inner, Scope(given=around.given)), ()
        else:
            raise LeftToSpark(node.key)
        names = [column.name for column in rows.columns]
        if (alias := node.args.get("alias")) is not None:
            _only(alias, "this", "columns")
            tables = ((alias.name,),) if alias.this else ()
            names = _names(alias.args.get("columns") or ()) or names
        if len(names) != len(rows.columns):
            raise LeftToSpark("more names than columns")
        return Rows(
            rows.sql,
            tuple(
                Column(tables, name, column.value.named(name))
                for name, column in zip(names, rows.columns, strict=True)
            ),
        )

    def _table(self, node: exp.Table, given: Given) -> tuple[Rows, tuple[Name, ...]]:
        parts = tuple(part.name for part in node.parts)
        if not isinstance(node.this, exp.Identifier):
            raise LeftToSpark("a function in the place of a table")
        if len(parts) == 1:
            if parts[0].lower() not in given or node.args.get("version"):
                raise LeftToSpark(f"the table {parts[0]}")
            query, before = given[parts[0].lower()]
            rows = self.question(query.this, Scope(given=before))
            if names := _names(query.args["alias"].args.get("columns") or ()):
                if len(names) != len(rows.columns):
                    raise LeftToSpark("more names than columns")
                renamed = zip(rows.columns, names, strict=True)
                rows = Rows(rows.sql, tuple(replace(one, name=name) for one, name in renamed))
            return rows, (parts,)
        scan = self._scan(_asked(node, parts))
        columns, selected = [], []
        for at, one in enumerate(scan.columns):
            new = self._new()
            selected.append(f"a{at} AS {new}")
            columns.append(Column((), one.name, Value(new, one.type)))
        return Rows(f"(SELECT {', '.join(selected)} FROM {scan.view})", tuple(columns)), (
            parts,
            parts[-1:],
        )

    def _scan(self, asked: Asked) -> Scan:
        if asked not in self.scans:
            schema = self.schema_of(asked)
            if self.mentioned is not None:
                kept = [one for one in schema if one.name.lower() in self.mentioned]
                schema = pa.schema(kept or [schema.field(0)])
            self.scans[asked] = Scan(f"t{len(self.scans)}", schema)
        return self.scans[asked]

    # Joins.

    def _join(self, left: Rows, node: exp.Join, around: Scope) -> Rows:
        _only(node, "this", "side", "kind", "on", "using")
        side, kind = (node.args.get(key) or "" for key in ("side", "kind"))
        words = f"{side} {kind}".replace("OUTER", "").replace("INNER", "").strip()
        on, using = node.args.get("on"), node.args.get("using")
        if isinstance(node.this, exp.Lateral):
            if on or using or words not in ("", "CROSS"):
                raise LeftToSpark("a join with LATERAL")
            return self._lateral(left, node.this)
        right = self._item(node.this, around)
        if node.this.args.get("joins"):
            raise LeftToSpark("joins in brackets")
        if words.removeprefix("LEFT ") in ("SEMI", "ANTI"):
            words = words.removeprefix("LEFT ")
            shown = left.columns
        elif words in ("", "LEFT", "RIGHT", "FULL", "CROSS"):
            shown = left.columns + right.columns
        else:
            raise LeftToSpark(f"{words} JOIN")
        if using:
            if words in ("SEMI", "ANTI", "CROSS"):
                raise LeftToSpark("USING")
            condition, shown = self._using(left, right, _names(using), words)
        elif on is not None and words != "CROSS":
            both = replace(around, columns=left.columns + right.columns, outer=around)
            condition = self._truth(on, both)
        elif words in ("", "CROSS"):
            return Rows(f"{left.sql} CROSS JOIN {right.sql}", shown)
        else:
            raise LeftToSpark("a join without a condition")
        return Rows(f"{left.sql} {words} JOIN {right.sql} ON {condition}".replace("  ", " "), shown)

    def _using(
        self, left: Rows, right: Rows, names: Sequence[str], words: str
    ) -> tuple[str, tuple[Column, ...]]:
        """The condition of USING, and the columns: those that both have, once, and those of each side."""
        conditions, shared, hidden = [], [], set()
        for name in names:
            sides = []
            for rows in (left, right):
                found = [one for one in rows.columns if one.in_star and same_name(one.name, name)]
                if len(found) != 1:
                    raise LeftToSpark(f"USING ({name})")
                sides += found
                hidden.add(found[0].value.sql)
            one, other = sides
            if one.value.type != other.value.type or not values.is_simple(one.value.type):
                raise LeftToSpark(f"USING ({name})")
            conditions.append(values.compared("=", one.value, other.value).sql)
            sql = {
                "RIGHT": other.value.sql,
                "FULL": f"coalesce({one.value.sql}, {other.value.sql})",
            }.get(words, one.value.sql)
            shared.append(Column((), one.name, Value(sql, one.value.type, one.name)))
        # Named with its table, a column of either side is still to be had.
        kept = [
            replace(column, in_star=False) if column.value.sql in hidden else column
            for column in left.columns + right.columns
        ]
        return " AND ".join(conditions), (*shared, *kept)

    def _lateral(self, rows: Rows, node: exp.Lateral) -> Rows:
        """LATERAL VIEW, and a LATERAL that calls a generator."""
        _only(node, "this", "view", "outer", "alias")
        alias = node.args.get("alias")
        if alias is None or (node.args.get("view") and not alias.this):
            raise LeftToSpark("LATERAL without a name")
        tables = ((alias.name,),) if alias.this else ()
        names = _names(alias.args.get("columns") or ())
        if not isinstance(node.this, exp.Anonymous):
            raise LeftToSpark("LATERAL")
        sql, made = self._exploded(rows, node.this, bool(node.args.get("outer")), names)
        columns = tuple(replace(column, tables=tables) for column in made)
        return Rows(sql, rows.columns + columns)

    def _exploded(
        self, rows: Rows, node: exp.Anonymous, outer: bool, names: Sequence[str]
    ) -> tuple[str, list[Column]]:
        """The rows with one for each element of an array or a map, and the columns that come with that."""
        called = node.name.lower()
        if called not in _GENERATORS or len(node.expressions) != 1:
            raise LeftToSpark(f"the generator {called}")
        outer = outer or called.endswith("_outer")
        value = self.value(node.expressions[0], Scope(rows.columns))
        is_map = pa.types.is_map(value.type)
        if not is_map and not pa.types.is_list(value.type):
            raise LeftToSpark(f"{called} of {value.type}")
        parts = f"map_entries({value.sql})" if is_map else value.sql
        numbers = f"range(0, len({parts}))"
        if outer:
            is_empty = f"coalesce(len({parts}), 0) = 0"
            parts = f"CASE WHEN {is_empty} THEN [NULL] ELSE {parts} END"
            numbers = f"CASE WHEN {is_empty} THEN [NULL] ELSE {numbers} END"
        part, number = self._new(), self._new()
        added = [f"unnest({parts}) AS {part}"]
        made: list[tuple[str, Value]] = []
        if called.startswith("pos"):
            added.append(f"unnest({numbers}) AS {number}")
            made.append(("pos", Value(f"CAST({number} AS INTEGER)", INT)))
        if is_map:
            made.append(("key", Value(f"struct_extract({part}, 'key')", value.type.key_type)))
            made.append(("value", Value(f"struct_extract({part}, 'value')", value.type.item_type)))
        else:
            made.append(("col", Value(part, value.type.value_type)))
        names = names or [name for name, _ in made]
        if len(names) != len(made):
            raise LeftToSpark("other names than columns")
        columns = [
            Column((), name, one.named(name)) for name, (_, one) in zip(names, made, strict=True)
        ]
        return f"(SELECT *, {', '.join(added)} FROM {rows.sql})", columns

    # SELECT.

    def _select(self, node: exp.Select, around: Scope) -> Rows:
        parts = ("from_", "joins", "laterals", "where", "group", "having", "qualify", "distinct")
        _only(node, "with_", "expressions", "order", "limit", "offset", *parts)
        rows = self._from(node, around)
        rows, projections = self._generated(node, rows)
        scope = Scope(rows.columns, given=around.given, outer=around)
        sql, where = rows.sql, node.args.get("where")
        if where is not None:
            sql += f" WHERE {self._truth(where.this, scope)}"
        shown: list[tuple[str, Value]] = []
        for one in projections:
            shown += self._shown(one, scope) if isinstance(one, exp.Expr) else [one]
        scope = replace(scope, aliases=tuple(shown))
        sql += self._grouped(node, scope, shown)
        for key in ("having", "qualify"):
            if (condition := node.args.get(key)) is not None:
                sql += f" {key.upper()} {self._truth(condition.this, scope)}"
        distinct = node.args.get("distinct")
        if distinct is not None:
            _only(distinct)
            if not all(values.is_simple(value.type) for _, value in shown):
                raise LeftToSpark("distinct values")
        sql += self._tail(node, scope, [value.sql for _, value in shown])
        columns = tuple(
            Column((), name, Value(self._new(), value.type, name)) for name, value in shown
        )
        selected = ", ".join(
            f"{value.sql} AS {column.value.sql}"
            for (_, value), column in zip(shown, columns, strict=True)
        )
        word = "SELECT DISTINCT" if distinct is not None else "SELECT"
        return Rows(f"({word} {selected} FROM {sql})", columns)

    def _generated(
        self, node: exp.Select, rows: Rows
    ) -> tuple[Rows, list[exp.Expr | tuple[str, Value]]]:
        """The rows with what an ``explode`` among the columns makes of them, and the columns."""
        found: list[exp.Expr | tuple[str, Value]] = []
        for one in node.expressions:
            inner, names = one, []
            if isinstance(one, exp.Alias):
                inner, names = one.this, [one.alias]
            elif isinstance(one, exp.Aliases):
                inner, names = one.this, _names(one.expressions)
            if not isinstance(inner, exp.Anonymous) or inner.name.lower() not in _GENERATORS:
                found.append(one)
                continue
            sql, made = self._exploded(rows, inner, False, names)
            rows = Rows(sql, rows.columns)
            found += [(column.name, column.value) for column in made]
        if any(isinstance(one, tuple) for one in found):
            plain = [one for one in found if isinstance(one, exp.Expr)]
            grouped = any(node.args.get(key) for key in ("group", "having", "qualify", "distinct"))
            if grouped or any(_is_aggregated(one) or one.find(exp.Window) for one in plain):
                raise LeftToSpark("explode in a question that groups")
        return rows, found

    def _shown(self, node: exp.Expr, scope: Scope) -> list[tuple[str, Value]]:
        """One column of the answer by its name, or those of a star."""
        star = node.this if isinstance(node, exp.Column) else node
        if isinstance(star, exp.Star):
            _only(star)
            tables: Name = ()
            if isinstance(node, exp.Column):
                tables = tuple(part.name for part in node.parts[:-1])
            found = [
                (one.name, one.value)
                for one in scope.columns
                if (one.in_star if not tables else _is_of(one, tables))
            ]
            if not found or (tables and not all(one.in_star for one in scope.columns)):
                # A star of one side of USING has these columns first in Spark.
                raise LeftToSpark("a star of nothing, or of a side of USING")
            return found
        if isinstance(node, exp.Alias):
            _only(node, "this", "alias")
            return [(node.alias, self.value(node.this, scope))]
        value = self.value(node, scope)
        name, inner = value.name, node.unnest()
        of = inner.this.unnest() if isinstance(inner, exp.TryCast) else inner
        if isinstance(of, exp.Column) and (of is inner or not _found(of, scope)[1]):
            # A field, and a conversion of a column, are called as what they are of.
            name = of.name
        elif isinstance(inner, exp.Dot):
            name = inner.expression.name
        if name is None:
            raise LeftToSpark("a column whose name only Spark knows")
        return [(name, value)]

    def _grouped(
        self,
        node: exp.Select,
        scope: Scope,
        shown: Sequence[tuple[str, Value]],
    ) -> str:
        group = node.args.get("group")
        if group is None:
            return ""
        _only(group, "expressions", "all")
        keys: list[Value] = []
        if group.args.get("all"):
            if len(node.expressions) != len(shown):
                raise LeftToSpark("GROUP BY ALL of a star")
            pairs = zip(node.expressions, shown, strict=True)
            keys = [value for one, (_, value) in pairs if not _is_aggregated(one)]
        for one in group.expressions:
            if isinstance(one, exp.Literal):
                at = _whole(one)
                if not 1 <= at <= len(shown):
                    raise LeftToSpark("a column that is not there")
                keys.append(shown[at - 1][1])
            else:
                keys.append(self.value(one, scope))
        if not all(values.is_simple(key.type) for key in keys):
            raise LeftToSpark("groups of such values")
        return f" GROUP BY {', '.join(key.sql for key in keys)}" if keys else ""

    # Values.

    def _truth(self, node: exp.Expr, scope: Scope) -> str:
        value = self.value(node, scope)
        if value.type != BOOL:
            raise LeftToSpark("a condition that is none")
        return value.sql

    def value(self, node: exp.Expr, scope: Scope) -> Value:
        """An expression."""

        def of(one: exp.Expr) -> Value:
            return self.value(one, scope)

        match node:
            case exp.Column():
                return self._column(node, scope)
            case exp.Literal() | exp.Boolean() | exp.Null() | exp.CurrentDate():
                return self._constant(node)
            case exp.CurrentTimestamp() | exp.HexString():
                return self._constant(node)
            case exp.Paren():
                _only(node, "this")
                return of(node.this)
            case exp.Neg():
                if isinstance(node.this, exp.Literal) and not node.this.is_string:
                    return values.number_literal(f"-{node.this.name}")
                return values.negative(of(node.this))
            case exp.Dot() if isinstance(node.expression, exp.Identifier):
                return values.field(of(node.this), node.expression.name)
            case exp.Bracket():
                _only(node, "this", "expressions")
                if len(node.expressions) != 1:
                    raise LeftToSpark("several elements")
                return values.element(of(node.this), of(node.expressions[0]))
            case exp.Add() | exp.Sub() if isinstance(node.expression, exp.Interval):
                interval = node.expression
                _only(interval, "this", "unit")
                sign = _ARITHMETIC[type(node)]
                if not isinstance(interval.unit, exp.Var) or not isinstance(
                    interval.this, exp.Literal
                ):
                    raise LeftToSpark("an interval")
                return values.later(of(node.this), sign, interval.this.name, interval.unit.name)
            case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod() | exp.IntDiv():
                _only(node, "this", "expression", "typed", "safe")
                return values.arithmetic(
                    _ARITHMETIC[type(node)], of(node.this), of(node.expression)
                )
            case exp.Anonymous():
                return self._called(node, scope)
            case exp.Window():
                return self._window(node, scope)
            case exp.Filter():
                return self._aggregate(node.this, scope, self._filtered(node, scope))
        return self._condition(node, scope)

    def _condition(self, node: exp.Expr, scope: Scope) -> Value:
        def of(one: exp.Expr) -> Value:
            return self.value(one, scope)

        match node:
            case exp.And() | exp.Or():
                a, b = of(node.this), of(node.expression)
                if (a.type, b.type) != (BOOL, BOOL):
                    raise LeftToSpark("truths")
                word = node.key.upper()
                name = f"({a.name} {word} {b.name})" if a.name and b.name else None
                return Value(f"({a.sql} {word} {b.sql})", BOOL, name)
            case exp.Not():
                return self._not(node, of)
            case exp.Is():
                return self._is(node, of)
            case exp.NullSafeNEQ():
                equal = values.compared("<=>", of(node.this), of(node.expression))
                return Value(f"(NOT {equal.sql})", BOOL, equal.name and f"(NOT {equal.name})")
            case _ if type(node) in _COMPARISONS:
                _only(node, "this", "expression")
                return values.compared(_COMPARISONS[type(node)], of(node.this), of(node.expression))
            case exp.Between():
                _only(node, "this", "low", "high")
                value, low, high = of(node.this), of(node.args["low"]), of(node.args["high"])
                both = values.compared(">=", value, low), values.compared("<=", value, high)
                names = (value.name, low.name, high.name)
                name = f"between({', '.join(map(str, names))})" if all(names) else None
                return Value(f"({both[0].sql} AND {both[1].sql})", BOOL, name)
            case exp.In():
                return self._in(node, scope)
            case exp.Like():
                _only(node, "this", "expression")
                value, pattern = of(node.this), of(node.expression)
                if value.type != TEXT or pattern.literal is None or "\\" in pattern.literal:
                    raise LeftToSpark("LIKE")
                name = value.name and f"{value.name} LIKE {pattern.name}"
                return Value(f"({value.sql} LIKE {pattern.sql})", BOOL, name)
            case exp.Exists():
                _only(node, "this")
                inner = self.question(node.this, scope)
                return Value(f"EXISTS {inner.sql}", BOOL)
            case exp.Subquery():
                inner = self.question(node, Scope(given=scope.given))
                if len(inner.columns) != 1:
                    raise LeftToSpark("several columns in the place of one")
                return Value(inner.sql, inner.columns[0].value.type)
        return self._conversion(node, of)

    def _conversion(self, node: exp.Expr, of: Callable[[exp.Expr], Value]) -> Value:
        match node:
            case exp.DPipe():
                a, b = of(node.this), of(node.expression)
                name = f"concat({a.name}, {b.name})" if a.name and b.name else None
                return values.joined(a, b).named(name)
            case exp.Cast():
                # A literal with the word of its type before it, DATE '…', is no conversion, but means the same.
                _only(node, "this", "to")
                return self._cast(node, of)
            case exp.If():
                _only(node, "this", "true", "false")
                other = node.args.get("false")
                return values.either(
                    of(node.this),
                    of(node.args["true"]),
                    values.NULL if other is None else of(other),
                )
            case exp.Case():
                return self._case(node, of)
            case exp.Trim():
                _only(node, "this")
                return _called_plainly("trim", [of(node.this)])
            case exp.Substring():
                _only(node, "this", "start", "length")
                parts = (node.this, node.args.get("start"), node.args.get("length"))
                arguments = [of(one) for one in parts if one is not None]
                return _called_plainly("substring", arguments)
            case exp.Floor() | exp.Ceil():
                _only(node, "this")
                return values.whole_part(node.key, of(node.this))
            case exp.Extract() if node.name.lower() in ("year", "month", "day", "hour", "minute"):
                part = node.name.lower()
                return values.FUNCTIONS[part](of(node.expression))
        raise LeftToSpark(node.key)

    def _column(self, node: exp.Column, scope: Scope) -> Value:
        found, fields = _found(node, scope)
        if not fields:
            return found.named(node.name)
        for name in fields:
            found = values.field(found, name)
        return found

    def _constant(self, node: exp.Expr) -> Value:
        _only(node, "this", "is_string")
        match node:
            case exp.Literal():
                text = str(node.this)
                return values.text_literal(text) if node.is_string else values.number_literal(text)
            case exp.Boolean():
                word = "true" if node.this else "false"
                return Value(word, BOOL, word)
            case exp.HexString():
                digits = str(node.this).upper()
                if set(digits) - set("0123456789ABCDEF") or len(digits) % 2:
                    raise LeftToSpark("such bytes")
                return Value(f"from_hex('{digits}')", values.BYTES)
            case exp.CurrentDate():
                return values.moment(self.now.date().isoformat(), DAY).named(None)
            case exp.CurrentTimestamp():
                return values.moment(self.now.isoformat(" "), values.AT).named(None)
        return values.NULL

    def _not(self, node: exp.Not, of: Callable[[exp.Expr], Value]) -> Value:
        inner = node.this
        if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
            value = of(inner.this)
            # `NOT x IS NULL` reads the same, and has another name.
            return Value(f"({value.sql} IS NOT NULL)", BOOL)
        value = of(inner)
        if value.type != BOOL:
            raise LeftToSpark("NOT")
        return Value(f"(NOT {value.sql})", BOOL, value.name and f"(NOT {value.name})")

    def _is(self, node: exp.Is, of: Callable[[exp.Expr], Value]) -> Value:
        value = of(node.this)
        if isinstance(node.expression, exp.Null):
            return Value(f"({value.sql} IS NULL)", BOOL, value.name and f"({value.name} IS NULL)")
        if isinstance(node.expression, exp.Boolean) and value.type == BOOL:
            word = "TRUE" if node.expression.this else "FALSE"
            return Value(f"({value.sql} IS {word})", BOOL)
        raise LeftToSpark("IS")

    def _in(self, node: exp.In, scope: Scope) -> Value:
        _only(node, "this", "expressions", "query")
        value = self.value(node.this, scope)
        query = node.args.get("query")
        if query is not None:
            rows = self.question(query, scope)
            if len(rows.columns) != 1 or rows.columns[0].value.type != value.type:
                raise LeftToSpark("IN of another type")
            if not values.is_simple(value.type):
                raise LeftToSpark("IN of such values")
            return Value(f"({value.sql} IN {rows.sql})", BOOL)
        listed = [self.value(one, scope) for one in node.expressions]
        same = values.alike([value, *listed])
        if not values.is_simple(same[0].type):
            raise LeftToSpark("IN of such values")
        names = [one.name for one in (value, *listed)]
        name = f"({names[0]} IN ({', '.join(map(str, names[1:]))}))" if all(names) else None
        return Value(f"({same[0].sql} IN ({', '.join(one.sql for one in same[1:])}))", BOOL, name)

    def _cast(self, node: exp.Cast, of: Callable[[exp.Expr], Value]) -> Value:
        if node.args.get("safe"):
            raise LeftToSpark("try_cast")
        to = node.args["to"]
        _only(to, "this", "expressions", "nested")
        name = to.this.value if isinstance(to.this, exp.DType) else str(to.this)
        kind = _TYPES.get(name)
        parameters = [_whole(one.this) for one in to.expressions]
        if name == "DECIMAL" and parameters:
            precision, scale = (*parameters, 0)[:2]
            if not 0 <= scale <= precision <= 38 or not precision:
                raise LeftToSpark("a decimal that is none")
            kind = pa.decimal128(precision, scale)
        elif parameters:
            raise LeftToSpark(f"the type {name}")
        if kind is None:
            raise LeftToSpark(f"the type {name}")
        if kind == values.DOUBLE and isinstance(node.this, exp.Literal) and not node.this.is_string:
            return Value(f"CAST('{_plain(node.this.name)}' AS DOUBLE)", kind)
        value = of(node.this)
        made = values.cast(value, kind)
        # sqlglot has 2L as a conversion, too, whose name in a heading is another.
        is_suffix = value.whole is not None and kind in (LONG, pa.int16(), pa.int8())
        is_typed = type(node) is exp.Cast
        is_exact = value.literal is not None and pa.types.is_decimal128(kind)
        return made.named(None) if is_suffix or is_typed or is_exact else made

    def _case(self, node: exp.Case, of: Callable[[exp.Expr], Value]) -> Value:
        _only(node, "this", "ifs", "default")
        conditions, results = [], []
        for one in node.args["ifs"]:
            _only(one, "this", "true")
            condition = of(one.this)
            if node.this is not None:
                condition = values.compared("=", of(node.this), condition)
            if condition.type != BOOL:
                raise LeftToSpark("a condition that is none")
            conditions.append(condition)
            results.append(of(one.args["true"]))
        default = node.args.get("default")
        same = values.alike([*results, values.NULL if default is None else of(default)])
        pairs = [*zip(conditions, same[:-1], strict=True)]
        sql = "".join(f" WHEN {a.sql} THEN {b.sql}" for a, b in pairs)
        names = [one.name for pair in pairs for one in pair] + [same[-1].name]
        name = None
        if all(names):
            end = "" if default is None else f" ELSE {same[-1].name}"
            name = f"CASE{''.join(f' WHEN {a.name} THEN {b.name}' for a, b in pairs)}{end} END"
        return Value(f"CASE{sql} ELSE {same[-1].sql} END", same[0].type, name)

    # Calls.

    def _called(self, node: exp.Anonymous, scope: Scope) -> Value:
        if not isinstance(node.this, str):
            raise LeftToSpark("a function of a quoted name")
        name = node.name.lower()
        if name in values.AGGREGATES:
            return self._aggregate(node, scope, lambda call: call)
        if name in ("now", "current_timestamp") and not node.expressions:
            return self._constant(exp.CurrentTimestamp())
        if name not in values.FUNCTIONS:
            raise LeftToSpark(f"the function {name}")
        return _called_plainly(name, [self.value(one, scope) for one in node.expressions])

    def _filtered(self, node: exp.Filter, scope: Scope) -> values.Over:
        _only(node, "this", "expression")
        _only(node.expression, "this")
        condition = self._truth(node.expression.this, scope)
        return lambda call: f"{call} FILTER (WHERE {condition})"

    def _aggregate(self, node: exp.Expr, scope: Scope, over: values.Over) -> Value:
        name = node.name.lower()
        if not isinstance(node, exp.Anonymous) or name not in values.AGGREGATES:
            raise LeftToSpark("FILTER of no aggregate")
        if len(node.expressions) != 1:
            raise LeftToSpark(f"{name} of several")
        (one,), distinct = node.expressions, ""
        if isinstance(one, exp.Star):
            _only(one)
            if name != "count":
                raise LeftToSpark(f"{name}(*)")
            return Value(over("count(*)"), LONG, "count(1)")
        if isinstance(one, exp.Distinct):
            _only(one, "expressions")
            if len(one.expressions) != 1:
                raise LeftToSpark("several distinct values")
            (one,), distinct = one.expressions, "DISTINCT "
        value = self.value(one, scope)
        if pa.types.is_null(value.type):
            raise LeftToSpark(f"{name} of nothing")
        made = values.AGGREGATES[name](value, distinct, over)
        return made.named(value.name and f"{name}({distinct}{value.name})")

    def _window(self, node: exp.Window, scope: Scope) -> Value:
        _only(node, "this", "partition_by", "order", "spec", "over")
        keys = [self.value(one, scope) for one in node.args.get("partition_by") or ()]
        if not all(values.is_simple(key.type) for key in keys):
            raise LeftToSpark("a partition by such values")
        parts, names = [], []
        if keys:
            parts.append(f"PARTITION BY {', '.join(key.sql for key in keys)}")
            names.append(_joined_names("PARTITION BY ", [key.name for key in keys]))
        order = node.args.get("order")
        if order is not None:
            sql, name = self._order(order, scope)
            parts.append(sql)
            names.append(name)
        call = node.this
        if isinstance(call, exp.Filter) or not isinstance(call, exp.Anonymous):
            raise LeftToSpark("such a window")
        called = call.name.lower()
        frame = _frame(node.args.get("spec"))
        if called not in values.AGGREGATES:
            if order is None or frame:
                raise LeftToSpark("a rank without an order")
            return self._rank(call, called, scope, " ".join(parts), names)
        shown = frame or (
            "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
            if order is not None
            else "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
        )
        if call.find(exp.Distinct):
            raise LeftToSpark("distinct values of a window")
        over = f"OVER ({' '.join([*parts, frame])})"
        made = self._aggregate(call, scope, lambda one: f"{one} {over}")
        return made.named(_window_name(made.name, names, shown))

    def _rank(
        self, call: exp.Anonymous, called: str, scope: Scope, over: str, names: list[str | None]
    ) -> Value:
        arguments = [self.value(one, scope) for one in call.expressions]
        ranks = {**values.RANKS, **values.FRACTIONS}
        if called in ranks and not arguments:
            kind = ranks[called]
            sql = f"CAST({called}() OVER ({over}) AS {values.named(kind)})"
            in_capitals = called not in ("row_number", "cume_dist")
            shown = f"{called.upper() if in_capitals else called}()"
            reach = "RANGE" if called == "cume_dist" else "ROWS"
            frame = f"{reach} BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
            return Value(sql, kind, _window_name(shown, names, frame))
        if called == "ntile" and len(arguments) == 1 and (arguments[0].whole or 0) > 0:
            sql = f"CAST(ntile({arguments[0].whole}) OVER ({over}) AS INTEGER)"
            return Value(sql, INT)
        if called in ("lag", "lead") and 1 <= len(arguments) <= 3:
            value = arguments[0]
            distance = arguments[1].whole if len(arguments) > 1 else 1
            default = arguments[2] if len(arguments) > 2 else values.NULL
            if distance is None or distance < 0 or pa.types.is_null(value.type):
                raise LeftToSpark(called)
            if default.type not in (value.type, pa.null()):
                raise LeftToSpark(called)
            sql = f"{called}({value.sql}, {distance}, {default.sql}) OVER ({over})"
            return Value(sql, value.type)
        if called in ("first_value", "last_value") and len(arguments) == 1:
            return Value(f"{called}({arguments[0].sql}) OVER ({over})", arguments[0].type)
        raise LeftToSpark(f"the window of {called}")


def _is_of(column: Column, tables: Name) -> bool:
    """Whether a column may be named with this table."""
    return any(
        len(table) == len(tables) and all(map(same_name, table, tables)) for table in column.tables
    )


def _found(node: exp.Column, scope: Scope) -> tuple[Value, list[str]]:
    """The column that a name means, and the fields of it that are meant."""
    parts = _names(node.parts)
    at: Scope | None = scope
    while at is not None:
        found: list[tuple[Value, list[str]]] = []
        for cut in range(len(parts)):
            tables, name, fields = tuple(parts[:cut]), parts[cut], parts[cut + 1 :]
            found += [
                (column.value, fields)
                for column in at.columns
                if same_name(column.name, name)
                and (column.in_star if not tables else _is_of(column, tables))
            ]
        if len(parts) == 1:
            # What the question calls its own results is meant after SELECT; where a column has the name, too, and is
            # not it, Spark says which.
            found += [
                (value, [])
                for name, value in at.aliases
                if same_name(name, parts[0]) and value.sql not in {one.sql for one, _ in found}
            ]
        if len(found) == 1:
            return found[0]
        if found:
            raise LeftToSpark(f"several that are called {'.'.join(parts)}")
        at = at.outer
    raise LeftToSpark(f"no column {'.'.join(parts)}")


def _is_aggregated(node: exp.Expr) -> bool:
    """Whether a column of the answer has an aggregate in it."""
    return any(
        one.name.lower() in values.AGGREGATES and not isinstance(one.parent, exp.Window)
        for one in node.find_all(exp.Anonymous)
    )


def _called_plainly(name: str, arguments: Sequence[Value]) -> Value:
    try:
        made = values.FUNCTIONS[name](*arguments)
    except TypeError as fault:
        raise LeftToSpark(f"{name} of other arguments") from fault
    if name in values.UNNAMED:
        return made
    return made.named(_joined_names("", [one.name for one in arguments], name))


def _joined_names(word: str, names: Sequence[str | None], call: str = "") -> str | None:
    if not all(names):
        return None
    shown = ", ".join(map(str, names))
    return f"{call}({shown})" if call else f"{word}{shown}"


def _plain(digits: str) -> str:
    if not digits.replace(".", "", 1).isdecimal():
        raise LeftToSpark(f"the number {digits}")
    return digits


def _window_name(call: str | None, names: Sequence[str | None], frame: str) -> str | None:
    if call is None or not all(names):
        return None
    return f"{call} OVER ({' '.join([*map(str, names), frame])})"


def _frame(spec: exp.Expr | None) -> str:
    """The frame of a window, of rows that are counted, or of all up to the ones beside the row; empty for none."""
    if spec is None:
        return ""
    _only(spec, "kind", "start", "start_side", "end", "end_side")
    kind, bounds = spec.args["kind"].upper(), []
    for key in ("start", "end"):
        bound, side = spec.args.get(key), (spec.args.get(f"{key}_side") or "").upper()
        if isinstance(bound, exp.Literal) and kind == "ROWS":
            bounds.append(f"{_whole(bound)} {side}")
        elif bound in ("UNBOUNDED", "CURRENT ROW"):
            bounds.append(f"{bound} {side}".strip())
        else:
            raise LeftToSpark("such a frame")
    return f"{kind} BETWEEN {bounds[0]} AND {bounds[1]}"


def _asked(node: exp.Table, name: Name) -> Asked:
    version = node.args.get("version")
    if version is None:
        return Asked(name)
    _only(version, "this", "kind", "expression")
    at = version.expression
    if version.name == "VERSION":
        return Asked(name, version=_whole(at))
    if not isinstance(at, exp.Literal) or version.name != "TIMESTAMP":
        raise LeftToSpark("a time that is computed")
    values.moment(at.name, values.AT)
    return Asked(name, time=datetime.fromisoformat(at.name).replace(tzinfo=UTC))
