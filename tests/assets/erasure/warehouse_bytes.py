"""Where in a warehouse some texts stand: all bytes are looked through, all that Parquet packs, and all base64."""

from __future__ import annotations

import base64
import gzip
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq


def layers_with(warehouse: Path, texts: Sequence[str]) -> Mapping[str, set[str]]:
    """Which of the texts stand somewhere in a folder, by the first folder of the warehouse that holds them."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(warehouse.rglob("*")):
        if not path.is_file():
            continue
        layer = path.relative_to(warehouse).parts[0]
        for part in parts_of(path):
            found[layer] |= {one for one in texts if one.encode() in part}
    return {layer: some for layer, some in found.items() if some}


def parts_of(path: Path) -> Iterator[bytes]:
    """The bytes of a file, as they lie there and unpacked; of Parquet every value, and every statistic."""
    raw = path.read_bytes()
    yield raw
    if raw[:2] == b"\x1f\x8b":
        yield gzip.decompress(raw)
    elif raw[:1] == b"\x78":
        yield zlib.decompress(raw)
    if raw[:4] == b"PAR1":
        parquet = pq.ParquetFile(pa.BufferReader(raw))
        metadata = parquet.metadata
        yield repr(metadata.metadata).encode()
        for group in range(metadata.num_row_groups):
            for column in range(metadata.num_columns):
                statistics = metadata.row_group(group).column(column).statistics
                if statistics is not None and statistics.has_min_max:
                    yield from _texts((statistics.min, statistics.max))
        for column in parquet.read().columns:
            yield from _texts(column.to_pylist())


def _texts(value: Any) -> Iterator[bytes]:
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, dict):
        yield from _texts([*value.items()])
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)
    elif value is not None:
        yield (text := str(value).encode())
        # As JSON holds bytes: the payloads that people gave.
        yield from map(base64.b64decode, _BASE64.findall(text))


_BASE64: Final = re.compile(rb"(?:[A-Za-z0-9+/]{4}){6,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
