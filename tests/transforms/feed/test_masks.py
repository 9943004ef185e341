"""The key of masks: what it makes of values, and that it never shows its secret."""

from __future__ import annotations

import pickle
import traceback
from dataclasses import asdict

from transforms.feed.feed import Feed
from transforms.feed.masks import MaskKey, Masks

SECRET = "0123456789abcdef"


def test_a_hash_is_hmac_sha256_of_the_texts_bytes() -> None:
    # printf Rex | openssl dgst -sha256 -hmac 0123456789abcdef
    expected = "03d619f0919e317b8883e7c2c8d96ae203004a55e800c3baaffd81666aeacdab"
    key = MaskKey(SECRET)
    assert key.hashed("Rex") == key.hashed(b"Rex") == expected
    assert MaskKey(SECRET + "0").hashed("Rex") != expected
    assert len(key.hashed("half of a pair: \ud800")) == 64


def test_it_survives_a_pickle_and_equals_its_like() -> None:
    key = MaskKey(SECRET)
    again = pickle.loads(pickle.dumps(key))
    assert again == key
    assert again.hashed("Rex") == key.hashed("Rex")
    assert key != MaskKey(SECRET + "0")
    assert len({key, again, MaskKey(SECRET + "0")}) == 2


def test_no_text_of_it_shows_the_secret() -> None:
    key = MaskKey(SECRET)
    feed = Feed("zoo", "arcion_s3_json", "/nowhere", mask_key=key)
    texts = [repr(key), str(key), f"{key}", repr(feed), str(asdict(feed)), key.fingerprint()]
    try:
        key.hashed(1)  # type: ignore[arg-type]
    except AttributeError as error:
        shown = traceback.TracebackException.from_exception(error, capture_locals=True)
        # A page of tracebacks that shows the names of each frame shows the values of ``self``.
        texts.append("".join(shown.format()))
    assert len(texts) == 7
    assert not any(SECRET in text for text in texts)


def test_masks_know_columns_by_any_case_and_by_earlier_names() -> None:
    masks = Masks({"Name": "null", "note": "drop"}, {"title": "Name", "old": "id"}, None)
    image = {"NAME": "a", "Title": "b", "NOTE": "c", "id": "d", "old": "e"}
    assert masks.masked(image) == {"NAME": None, "Title": None, "id": "d", "old": "e"}
