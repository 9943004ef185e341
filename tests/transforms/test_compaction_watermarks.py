"""How far history may be compacted, by the positions that each stream has delivered in each window."""

from __future__ import annotations

import pytest

from transforms.compaction_watermarks import Reach, Span, common_position, most_have_reached

OLD = "2025-11-20T03"


def span(hour: int, newest: int) -> Span:
    return Span(f"2025-11-20T{hour:02}", (0, 1), (0, newest))


def test_a_stream_bounds_the_watermark_by_the_positions_it_has_delivered() -> None:
    both = {"a": Reach((0, 1, 1), (0, 1, 9)), "b": Reach((0, 1, 2), (0, 1, 7))}
    assert common_position(both) == ((0, 1, 7), "b")
    # Nothing of it is old enough, so nothing of it may be folded.
    young = {"a": both["a"], "c": Reach((0, 1, 5), None)}
    assert common_position(young) == ((0, 1, 4), "c")
    assert common_position({"c": Reach((0, 1, 5), None)}) == (None, None)


@pytest.mark.parametrize(
    ("old", "since", "reached"),
    [
        ([9], [10, 12], None),
        ([9], [9], None),
        ([99], [10, 12, 14], (0, 12)),
        ([9, 99], [10, 11], (0, 10)),
        # A single window may have brought nothing but what is late.
        ([9, 99], [10], None),
        # One window since then has such a position, too, and one repeats what is old.
        ([99], [10, 99, 12], (0, 12)),
        ([9], [2, 10, 11], None),
        ([99], [], None),
        ([], [10], None),
    ],
)
def test_an_old_position_that_most_windows_have_not_reached_is_wrong(
    old: list[int], since: list[int], reached: tuple[int, ...] | None
) -> None:
    spans = [span(hour, newest) for hour, newest in enumerate(old)]
    spans += [span(hour, newest) for hour, newest in enumerate(since, start=10)]
    assert most_have_reached(spans, OLD) == reached
