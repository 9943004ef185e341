from __future__ import annotations

from assets.wording import nothing_landed


def test_windows_in_which_nothing_landed_are_named_in_stretches() -> None:
    windows = [f"2026-11-26T{hour:02}" for hour in range(4, 14)]
    quiet = {*windows[4:5], *windows[7:]}
    assert nothing_landed(quiet, windows) == (
        "nothing landed in 4 of 10 windows: 2026-11-26T08, 2026-11-26T11 .. 2026-11-26T13"
    )
    every_other = windows[::2] + [f"2026-11-27T{hour:02}" for hour in range(0, 24, 2)]
    told = nothing_landed(every_other, windows + [f"2026-11-27T{hour:02}" for hour in range(24)])
    assert told.startswith("nothing landed in 17 of 34 windows: 2026-11-26T04, 2026-11-26T06, ")
    assert told.endswith(", 2026-11-26T12, …")
