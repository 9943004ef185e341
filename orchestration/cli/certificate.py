"""What ``weir verify`` prints: how a feed was proved, and each table's certificate.

Put here how a proof reads. Not here: how it is made (``assets/audit/verify``), and what is compared
(``assets/audit/comparing``).
"""

from __future__ import annotations

from assets.audit.comparing import Certificate
from assets.audit.shuffle import Shuffled
from assets.wording import counted
from transforms.feed.feed import Feed


def heading(feed: Feed, shuffled: Shuffled, seed: int) -> str:
    """What was done to prove a feed."""
    where = (
        "in their own windows (the feed has epochs, or columns with a `since`)"
        if shuffled.in_own_windows
        else "shuffled over other windows"
    )
    return (
        f"{feed.name}: {counted(shuffled.records, 'record')} of bronze, {shuffled.repeated:,} of them twice, {where};"
        f" {counted(len(shuffled.runs), 'run')} in another order, the first of them twice (seed {seed})"
    )


def certificate_lines(feed: Feed, certificate: Certificate) -> list[str]:
    """One table's certificate in a line; where keys differ, lines for these and what to do."""
    name = f"gold.{feed.name}.{certificate.table}"
    rows = counted(certificate.rows, "row")
    if not certificate.differing:
        tombstones = counted(certificate.tombstones, "tombstone")
        told = f"{rows} and {tombstones}, the same row for row; digest {certificate.digest[:16]}"
        return [f"  proved   {name}: {told}"]
    lines = [f"  DIFFERS  {name}: {counted(certificate.differing, 'key')} of {rows}:"]
    for difference in certificate.differences:
        what = (
            "gold has another row than its events make"
            if difference.in_gold and difference.in_proof
            else "gold has a row, and its events make none"
            if difference.in_gold
            else "gold has no row, and its events make one"
        )
        lines.append(f"    {difference.key}: {what}")
    lines.append(
        f"    `weir explain {feed.name} {certificate.table} <key>` shows the events of a key"
    )
    lines.append(f"    `weir rebuild {feed.name}` makes the feed's tables again from bronze")
    return lines
