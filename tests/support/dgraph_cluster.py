"""A Dgraph cluster in plain Python, which shares no code with the packages, and deliveries of its stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from transforms.feed.feed import Feed, Predicate
from transforms.formats import FORMATS

SINGLE = {
    "name": "string", "age": "int", "boss": "uid", "born": "datetime", "height": "float",
    "alive": "bool",
}  # fmt: skip
MANY = {"nick": "string", "friend": "uid"}
VALUES: dict[str, list[object]] = {
    "name": ["Ann", "Bo", '<a> & "b"', "", "a\x00b", "日本 😀", "{}", "null"],
    "age": [1, -7, 9_007_199_254_740_993],
    "boss": [1, 2**63 + 1],
    "born": ["2006-01-02T15:04:05Z", "1969-12-31T23:59:59.999999999+05:30"],
    "height": [1.5, -0.25, 1e-05],
    "alive": [True, False],
    "nick": ["a", "b", "é"],
    "friend": [1, 2, 2**64 - 1],
}
STAR = ("_STAR_ALL", "default")

Node = tuple[int, int, str]
Triple = tuple[str, str, str, str, str]
Document = dict[str, object]


def cluster_feed() -> Feed:
    """The feed that declares the cluster's predicates."""
    predicates = {
        name: Predicate(name, kind, list=name in MANY) for name, kind in {**SINGLE, **MANY}.items()
    }
    feed = Feed("golden", "dgraph", "/nowhere", predicates=predicates)
    return Feed(
        "golden", "dgraph", "/nowhere", predicates=predicates, tables=FORMATS["dgraph"].tables(feed)
    )


@dataclass
class Cluster:
    """What a cluster holds, and the events of its commits: each a list of lines.

    ``said`` has each line as it was before it was written: its namespace, and the document. No two lines are alike.
    """

    rng: Random
    held: dict[Node, list[object]] = field(default_factory=dict)
    commits: list[list[str]] = field(default_factory=list)
    clock: int = 4
    said: dict[str, tuple[int, Document]] = field(default_factory=dict)

    def transaction(self) -> None:
        """A commit of one namespace; within it no event of a predicate of a node comes twice."""
        self.clock += self.rng.choice([1, 2, 90])
        namespace = self.rng.choice([0, 0, 1])
        lines: list[str] = []
        for _ in range(self.rng.randint(1, 5)):
            uid, predicate = self.rng.choice([3, 4, 2**63]), self.rng.choice([*SINGLE, *MANY])
            value = self.rng.choice(VALUES[predicate])
            does = self.rng.choice(["set", "set", "set", "del", "star"])
            line = self.mutation(namespace, does, uid, predicate, value)
            if line in lines:
                continue
            lines.append(line)
            self.apply((namespace, uid, predicate), does, value)
        self.commits.append(lines)

    def mutation(self, namespace: int, does: str, uid: int, predicate: str, value: object) -> str:
        of_event, kind = (value, {**SINGLE, **MANY}[predicate]) if does != "star" else STAR
        event = {
            "operation": "set" if does == "set" else "del",
            **{"uid": uid, "attr": predicate, "value": of_event, "value_type": kind},
        }
        return self.line(namespace, "mutation", event)

    def line(self, namespace: int, kind: str, event: dict[str, object]) -> str:
        document: Document = {"meta": {"commit_ts": self.clock}, "type": kind, "event": event}
        # Go's encoder escapes these three.
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
        for sign in "<>&":
            text = text.replace(sign, f"\\u{ord(sign):04x}")
        line = f'{{ "key": "{namespace}", "value": {text}}}\n'
        self.said[line] = (namespace, document)
        return line

    def apply(self, node: Node, does: str, value: object) -> None:
        values = self.held.setdefault(node, [])
        if does == "set" and node[2] in SINGLE:
            values[:] = [value]
        elif does == "set" and value not in values:
            values.append(value)
        elif does == "star":
            values.clear()
        elif does == "del" and value in values:
            values.remove(value)

    def drop(self) -> None:
        """A drop, which has a timestamp of its own."""
        self.clock += 1
        kind, namespace = (
            self.rng.choice(["all", "data", "predicate", "type"]),
            self.rng.choice([0, 1]),
        )
        predicate = self.rng.choice([*SINGLE, *MANY]) if kind == "predicate" else ""
        event: dict[str, object] = {"operation": kind, "type": "", "pred": predicate}
        self.commits.append([self.line(0 if kind == "all" else namespace, "drop", event)])
        for node in list(self.held):
            mine = node[0] == namespace
            if kind == "all" or (mine and (kind == "data" or (predicate and node[2] == predicate))):
                del self.held[node]

    def triples(self) -> set[Triple]:
        return {
            (str(namespace), str(uid), predicate, text_of(value), {**SINGLE, **MANY}[predicate])
            for (namespace, uid, predicate), values in self.held.items()
            for value in values
        }


def text_of(value: object) -> str:
    """A value as gold has it: numbers as Go writes them."""
    if isinstance(value, bool):
        return json.dumps(value)
    return str(value).upper() if isinstance(value, float) else str(value)


def sent(commits: list[list[str]], rng: Random) -> Iterator[str]:
    """The lines as a sink gets them: restarts send earlier commits again, and a crash cuts the commit it hits."""
    at = 0
    while at < len(commits):
        if at > 1 and rng.random() < 0.15:
            yield from commits[at][: rng.randint(1, len(commits[at]))]
            at = rng.randint(0, at - 1)
        yield from commits[at]
        at += 1


def files(lines: list[str], rng: Random) -> dict[str, bytes]:
    """The lines in files; some of them landed twice."""
    return {name: "".join(piece).encode() for name, piece in pieces(lines, rng).items()}


def pieces(lines: list[str], rng: Random) -> dict[str, list[str]]:
    """The lines in files of six and more, whose names say nothing; some of them landed twice."""
    cut: list[list[str]] = []
    while lines:
        size = rng.choice([6, 9, 20, 40])
        size = size if len(lines) >= size + 6 else len(lines)
        cut.append(lines[:size])
        lines = lines[size:]
    cut += [rng.choice(cut)] if rng.random() < 0.3 else []
    names = rng.sample(range(len(cut)), len(cut))
    return {f"{name}.log": piece for name, piece in zip(names, cut, strict=True)}
