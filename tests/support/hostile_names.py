"""Names and values that sources may have and that are made to do harm where they are not quoted."""

from __future__ import annotations

from hypothesis import strategies as st

AT_A_TERMINAL = (
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x9b2J",
    "a\rb",
    "a\nerror: forged",
    "\u202egnp.exe",
    "\u2066isolated",
    "a\x00b",
    "\x7f",
    "a\u2028b",
)
"""What a terminal acts upon, or what makes a line look like another's."""

IN_A_PATH = (
    *("../x", "../../../../etc/passwd", "/etc/passwd", "a/../../b", "..", ".", "a/./b"),
    *(
        "%2e%2e/x",
        "%2e%2e%2fx",
        "%00",
        "a\\..\\b",
        "a\x00b",
        "~",
        "~root",
        "-rf",
        "--",
        "_delta_log",
    ),
    *("CON", "nul.txt", "COM1", "a:b", "s3://other/x", "file:///etc/passwd", "a" * 300, "é" * 200),
    *("a*b", "a?b", "a[b]", "a{b,c}", "a#b", "a b ", " a", "_weir", ".hidden", "a\nb"),
)
"""What leads out of a folder, or is no name there."""

IN_SQL = (
    *("a`b", "`", "``", "a``; DROP TABLE x; --", "'", "a'b", "''", '"', 'a"b', "; --", "/*", "*/"),
    *(
        "a.b",
        "a b",
        "select",
        "${spark.master}",
        "{{ x }}",
        "a\\",
        "a\\'b",
        "$$",
        ":x",
        "?",
        "\\u0060",
    ),
)
"""What ends a quoted name or text, or begins something else."""

LOOKING_LIKE = (
    "ß",
    "SS",
    "ss",
    "İ",
    "i̇",
    "ı",
    "I",
    "ﬁ",
    "fi",
    "Ａ",
    "A",
    "ſ",
    "s",
    "K",
    "k",
    "é",
    "é",
)
"""What is equal to another under some rule, and not under others."""

HOSTILE = (*AT_A_TERMINAL, *IN_A_PATH, *IN_SQL, *LOOKING_LIKE)

names = (
    st.sampled_from(HOSTILE)
    | st.text(max_size=30)
    | st.text(alphabet="./\\%2eE`'\";-\x00\x1b\u202e\n ~:*?aÅßİ", max_size=16)
    | st.lists(st.sampled_from(HOSTILE), min_size=2, max_size=3).map("".join)
)
"""Names at random, many of them hostile."""
