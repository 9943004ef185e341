"""A single record may be as large as its object: it takes little more memory than the object, and no other is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SIZE = 200 << 20

READ = r"""
import gzip, resource, sys
from assets.landing.read_objects import records_of
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.record import Limits

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10

name, size = sys.argv[1], int(sys.argv[2])
beginning, end = {
    "line.json": (b'{"a":"', b'"}\n{}\n'),
    "raw_control.json": (b'{"a":"\x01', b'"}\n{}\n'),
    "quoted.csv": (b'1,"', b'"\n22'),
    "line.rdf": (b"<a> <b> ", b" .\n22"),
    "line.json.gz": (b'{"a":"', b'"}\n{}\n'),
    "bomb.json.gz": (b'{"a":"', b'"}\n{}\n'),
}[name]
data = beginning + b"x" * size + end
if name.endswith(".gz"):
    data = gzip.compress(data, 1)
known = {"json": "arcion_s3_json", "csv": "arcion_s3_csv", "rdf": "dgraph"}
format_name = known[name.split(".")[1]]
limits = Limits(largest_object=size // 4) if name.startswith("bomb") else Limits()
before = peak()
found = [
    (one.line, len(one.payload), one.defect)
    for one in records_of(
        Feed("f", format_name, "/"), name, data, source=FORMATS[format_name], limits=limits
    )
]
print(peak() - before)
print(found)
"""


def read(root: Path, name: str) -> tuple[float, str]:
    """How many times its size reading an object took beside its own bytes, and what was read."""
    command = [sys.executable, "-c", READ, name, str(SIZE)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    peak, found = done.stdout.splitlines()
    return int(peak) / SIZE, found


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("line.json", 0.1),
        # What msgspec refuses is read as far as a record may go.
        ("raw_control.json", 2),
        ("quoted.csv", 0.1),
        ("line.rdf", 0.1),
        # The inflated bytes themselves.
        ("line.json.gz", 1.5),
    ],
)
def test_a_line_that_is_too_long_takes_little_memory(root: Path, name: str, most: float) -> None:
    times, found = read(root, name)
    assert times < most
    assert found == "[(1, 1048576, 'the record is longer than 67,108,864 bytes'), (2, 2, None)]"


def test_an_object_that_inflates_without_end_takes_no_more_than_it_may(root: Path) -> None:
    times, found = read(root, "bomb.json.gz")
    assert times < 1
    assert found == (
        "[(1, 4000, 'the object inflates to more than 52,428,800 bytes: "
        "nothing of it was read but its first 4,000')]"
    )
