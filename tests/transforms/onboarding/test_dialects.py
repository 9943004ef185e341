"""How the files of a sample are written, as far as it is not as usual: encodings, and dialects of CSV."""

from __future__ import annotations

import pytest

from transforms.feed.feed import USUAL_CSV
from transforms.onboarding.dialects import guessed_dialect, guessed_encoding

TEXTS = {
    "windows-1252": "1,Müller,Straße\n2,Café,à la carte\n3,Ångström,señor\n",
    "windows-1250": "1,Łódź,ulica Święta\n2,Kraków,gęś\n3,Wrocław,żółć\n",
    "windows-1251": "1,Москва,улица Тверская\n2,Казань,дом и сад\n",
    "shift_jis": "1,東京,みなと区\n2,大阪,きた区のカフェ\n",
    "euc-jp": "1,東京,みなと区\n2,大阪,きた区のカフェ\n",
    "euc-kr": "1,서울,강남구\n2,부산,해운대구\n",
    "gb18030": "1,北京,中关村大街\n2,上海,人民广场\n",
    "big5": "1,台北,信義區中山路\n2,高雄,文化中心的人\n",
    "cp037": "1,Smith,12 Main Street\n2,Jones,Elm Road\n",
    "utf-16-le": "1,Rex,Lund\n2,Mia,Braga\n",
    "utf-16-be": "1,Rex,Lund\n2,Mia,Braga\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_an_encoding_is_guessed_where_its_letters_stand_among_their_own(name: str) -> None:
    found = guessed_encoding({"pets/a.csv": TEXTS[name].encode(name)})
    assert found is not None
    assert found.name == name, found


NOTHING = {
    "ascii": b"1,Rex\n2,Mia\n",
    "UTF-8": TEXTS["windows-1252"].encode(),
    "a mark": TEXTS["windows-1252"].encode("utf-16"),
    "JSON in UTF-16": '{"name": "Müller"}\n'.encode("utf-16-le"),
    # One letter that was cut is damage.
    "UTF-8 with one bad line": TEXTS["windows-1252"].encode() + b"4,\xc3,x\n",
    "no text": bytes(range(256)) * 4,
}


@pytest.mark.parametrize("name", NOTHING)
def test_nothing_is_said_of_files_that_say_it_or_need_not(name: str) -> None:
    assert guessed_encoding({"a.csv": NOTHING[name]}) is None


def test_where_no_encoding_makes_sense_that_is_said() -> None:
    found = guessed_encoding({"a.csv": b"1,\x9d\x81\xff\x8d\n2,\xaa\x90\x81\xff\n"})
    assert found is not None
    assert found.name is None
    assert "2 of 2 lines" in found.evidence


CSV = [
    ("as usual", '1,"a,b",x\n2,c,NULL\n', {}),
    ("semicolons, and commas in numbers", "1;Rex;3,50\n2;Mia;12,00\n", {"delimiter": ";"}),
    ("tabs", "1\tRex, a dog\n2\tMia\n", {"delimiter": "\t"}),
    ("Hive's", "1\x01Rex\n2\x01\\N\n", {"delimiter": "\x01", "null_word": "\\N"}),
    ("single quotes", "1|'a|b'\n2|'it''s'\n", {"delimiter": "|", "quote": "'"}),
    ("quotes that are inches", '1|3" pipe\n2|5" pipe\n', {"delimiter": "|", "quote": ""}),
    ("another escape", '1,"a ^"b^" c"\n2,"^"d"\n', {"escape": "^"}),
    ("a word for null", "1,null,x\n2,Rex,null\n", {"null_word": "null"}),
    ("nothing for null", "1,2.50,x\n2,,y\n3,4.25,z\n", {"null_word": ""}),
    ("empty texts", "1,x\n2,\n3,y\n", {}),
    ("a header of words", "Pet no.,Its name\n1,Rex\n2,Mia\n", {"header": "yes"}),
    ("a header that shows itself", "id,name\n1,Rex\n2,Mia\n", {}),
    (
        "rows of changes beside those of a snapshot",
        '1;Rex\nNULL;1;1;NULL;Rex;1;D;"{""a"":1,""b"":2}";"{""insert"":0}"\n',
        {"delimiter": ";"},
    ),
    ("JSON", '{"a": 1, "b": 2}\n{"a": 1, "b": 3}\n', {}),
    ("text", "hello, world\nthis is no row\nnor, is, this\n", {}),
]
USUAL = {"delimiter": ",", "quote": '"', "escape": "\\", "null_word": "NULL", "header": "auto"}


@pytest.mark.parametrize(("text", "given"), [one[1:] for one in CSV], ids=[one[0] for one in CSV])
def test_the_dialect_is_the_one_in_which_rows_are_equally_wide(
    text: str, given: dict[str, str]
) -> None:
    csv = guessed_dialect({"pets/a.csv": text.encode()}).csv
    names = (csv.delimiter, csv.quote, csv.escape, csv.null, csv.header)
    keys = dict(zip(USUAL, names, strict=True))
    assert {name: one for name, one in keys.items() if USUAL[name] != one} == given


def test_files_that_begin_with_different_words_have_no_header() -> None:
    texts = {"a.csv": b"Rex,dog\nMia,cat\n", "b.csv": b"Leo,lion\nTom,cat\n"}
    assert guessed_dialect(texts).csv.header == "no"
    assert guessed_dialect({name: b"id,name\n1,x\n" for name in texts}).csv == USUAL_CSV


def test_files_with_another_delimiter_are_named() -> None:
    texts = {"a.csv": b"1;x\n2;y\n", "b.csv": b"1;x\n3;y\n", "t/c.csv": b"1\tx\n2\ty\n"}
    found = guessed_dialect(texts)
    assert (found.csv.delimiter, found.others) == (";", ("t/c.csv",))
