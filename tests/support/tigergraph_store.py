"""A small graph store that writes messages as TigerGraph would: plain Python that shares no code with the packages."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from random import Random

from transforms.feed.feed import EdgeType, Feed, VertexType
from transforms.formats import FORMATS

UIDS = ("1", "2", "10", "é", "a,b")
NUMBERS = (-9, -1, 0, 1, 7, 9_007_199_254_740_993)
WORDS = ("x", "y", "é 😀", 'a"\\,b', "\x00")
PERSON = ("Person",)
DECLARED = Feed(
    "laws",
    "tigergraph",
    "/nowhere",
    vertices={
        "Person": VertexType(
            "Person",
            {"n": "bigint", "log": "array<bigint>", "tags": "set<string>", "s": "string"},
            defaults={"n": "5"},
        )
    },
    edges={
        "Likes": EdgeType("Likes", PERSON, PERSON, {"w": "bigint"}),
        "Knows": EdgeType("Knows", PERSON, PERSON, {"w": "bigint"}, directed=False),
        "Leads": EdgeType("Leads", PERSON, PERSON, {"w": "bigint"}, reverse="Heeds"),
    },
)
FEED = replace(DECLARED, tables=FORMATS["tigergraph"].tables(DECLARED))


@dataclass
class Store:
    """The graph, and all messages about it; ``pauses``: before how many of its acts two hours pass."""

    rng: Random
    partitions: int
    pauses: float = 0.0
    time: int = 1_700_000_000_000
    tids: dict[int, int] = field(default_factory=dict)
    sent: list[dict[str, object]] = field(default_factory=list)
    people: dict[str, dict[str, object]] = field(default_factory=dict)
    edges: dict[str, dict[tuple[str, str], int]] = field(
        default_factory=lambda: {"Likes": {}, "Knows": {}, "Leads": {}}
    )

    def home(self, uid: str) -> int:
        return UIDS.index(uid) % self.partitions + 1

    def tell(self, partition: int, operator: str, kind: str, **fields: object) -> None:
        tid = self.tids.get(partition, 0) + self.rng.randint(1, 9)
        self.tids[partition] = tid
        split = [str(self.rng.randint(0, 12))] if self.rng.random() < 0.3 else []
        index = str(self.rng.randint(0, 12))
        mid = "|".join([str(partition), str(self.time), str(tid), *split, index])
        head = {"mid": mid, "timestamp": self.time, "operator": operator, "type": kind}
        self.sent.append({**head, **fields})

    def act(self) -> None:
        self.time += self.rng.randint(1, 2000)
        if self.pauses and self.rng.random() < self.pauses:
            self.time += 7_200_000
        uid, other = self.rng.sample(UIDS, 2)
        chosen = self.rng.random()
        if chosen < 0.3:
            self.change(uid)
        elif chosen < 0.7:
            self.connect(uid, other)
        elif chosen < 0.8:
            self.disconnect(uid, other)
        elif chosen < 0.86:
            self.disconnect_all(uid)
        elif chosen < 0.97:
            self.remove({uid})
            self.tell(self.home(uid), "delete", "vertex", typename="Person", uid=uid)
        else:
            self.remove(set(UIDS))
            anywhere = self.rng.randint(1, self.partitions)
            self.tell(anywhere, "delete", "vertex-type", typename="Person", content={})

    def there(self, uid: str) -> dict[str, object]:
        new: dict[str, object] = {"n": 5, "log": [], "tags": [], "s": ""}
        return self.people.setdefault(uid, new)

    def change(self, uid: str) -> None:
        row, content = self.there(uid), {}
        for name in self.rng.sample(sorted(row), self.rng.randint(0, 3)):
            op = self.rng.choice(["Overwrite", "Add"])
            number, word = self.rng.choice(NUMBERS), self.rng.choice(WORDS)
            value: object = {"n": number, "log": [number, number], "tags": [word], "s": word}[name]
            old = [] if op == "Overwrite" else row[name]
            if name == "n":
                row[name] = number + (old or 0)  # type: ignore[operator]
            elif name == "s":
                row[name] = (old or "") + word  # type: ignore[operator]
            elif name == "log":
                row[name] = [*(old or []), number, number]  # type: ignore[misc]
            else:
                row[name] = sorted({*(old or []), word})  # type: ignore[misc]
            content[name] = {"op": op, "value": value}
        self.tell(self.home(uid), "insert", "vertex", typename="Person", uid=uid, content=content)

    def connect(self, uid: str, other: str) -> None:
        name = self.rng.choice(sorted(self.edges))
        weight = self.rng.randint(1, 9)
        self.there(uid)
        self.there(other)
        key = self.key(name, uid, other)
        self.edges[name][key] = self.edges[name].get(key, 0) + weight
        content = {"w": {"op": "Add", "value": weight}}
        self.tell_edge("insert", name, uid, other, content=content)

    def disconnect(self, uid: str, other: str) -> None:
        name = self.rng.choice(sorted(self.edges))
        self.edges[name].pop(self.key(name, uid, other), None)
        self.tell_edge("delete", name, uid, other)

    def disconnect_all(self, uid: str) -> None:
        name = self.rng.choice(["Likes", "Knows"])
        ends = (0,) if name == "Likes" else (0, 1)
        self.edges[name] = {
            key: weight
            for key, weight in self.edges[name].items()
            if uid not in [key[end] for end in ends]
        }
        source = {"type": "Person", "uid": uid}
        self.tell(self.home(uid), "delete-all", "edge", typename=name, **{"from": source})

    def remove(self, uids: set[str]) -> None:
        self.people = {uid: row for uid, row in self.people.items() if uid not in uids}
        for name, edges in self.edges.items():
            self.edges[name] = {key: weight for key, weight in edges.items() if not uids & {*key}}

    def key(self, name: str, uid: str, other: str) -> tuple[str, str]:
        return (other, uid) if name == "Knows" and other < uid else (uid, other)

    def tell_edge(self, operator: str, name: str, uid: str, other: str, **more: object) -> None:
        def tell(typename: str, source: str, target: str) -> None:
            ends = {
                "from": {"type": "Person", "uid": source},
                "to": {"type": "Person", "uid": target},
            }
            self.tell(self.home(source), operator, "edge", typename=typename, **ends, **more)

        tell(name, uid, other)
        if name != "Likes":
            tell({"Leads": "Heeds"}.get(name, name), other, uid)
        elif operator == "insert":
            fields: dict[str, object] = {"typename": "Person", "uid": other, "content": {}}
            self.tell(self.home(other), "insert-only", "vertex", **fields)

    def delivered(self) -> bytes:
        twice = [one for one in self.sent if self.rng.random() < 0.2]
        sent = [*self.sent, *twice]
        self.rng.shuffle(sent)
        return "".join(json.dumps(one) + "\n" for one in sent).encode()

    def gold(self) -> dict[str, list[dict[str, object]]]:
        rows: dict[str, list[dict[str, object]]] = {
            "vertex_Person": [{"uid": uid, **row} for uid, row in self.people.items()]
        }
        for name, edges in self.edges.items():
            shown = [
                {
                    **{"from_type": "Person", "from_uid": uid, "to_type": "Person"},
                    **{"to_uid": other, "discriminator": "", "w": weight},
                }
                for (uid, other), weight in edges.items()
            ]
            rows[f"edge_{name}"] = shown
            if name != "Likes":
                rows[f"edge_{name}__mirror"] = shown
        return {name: sorted(found, key=str) for name, found in rows.items() if found}
