"""Range deletes: a truncate, a drop or a star delete changes every key that it is for, in other streams, too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from transforms.change import Change, Image, Key


@dataclass(frozen=True, slots=True)
class RangeDelete:
    """One range delete: for the keys whose columns have the values of ``scope`` (empty: all of the table).

    ``stream``: only for keys of this stream; None for those of all.
    """

    scope: Image
    stream: str | None
    change: Change


class RangeDeletesByKey:
    """All range deletes of one table, found by key; ``identity`` names the key's columns in order."""

    def __init__(self, range_deletes: Iterable[RangeDelete], identity: Sequence[str]) -> None:
        self._found: dict[tuple[int, ...], dict[Key, list[RangeDelete]]] = {}
        for one in range_deletes:
            columns = sorted(one.scope)
            at = tuple([identity.index(name) for name in columns])
            values = tuple([one.scope[name] for name in columns])
            self._found.setdefault(at, defaultdict(list))[values].append(one)

    def of(self, key: Key, streams: Collection[str | None]) -> Iterator[Change]:
        """The range deletes that apply to a key which has changes of these streams."""
        for one in self.matching(key):
            if one.stream is None or one.stream in streams:
                yield one.change

    def reach_across(self, key: Key) -> bool:
        """Whether a key is in the scope of a change of some stream, whichever streams the key has changes of."""
        return any(one.stream is not None for one in self.matching(key))

    def matching(self, key: Key) -> Iterator[RangeDelete]:
        """The range deletes in whose scope a key is, whichever streams they and the key are of."""
        for at, by_values in self._found.items():
            yield from by_values.get(tuple([key[number] for number in at]), ())
