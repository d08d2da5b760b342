"""Untrusted text cannot act."""

from hypothesis import given, strategies as st

from perfcheck.render.clean import cells, clean


def test_escapes_are_shown_and_letters_kept():
    assert clean("a\x1b[31mb") == "a\\x1b[31mb"
    assert clean("naïve 漢字") == "naïve 漢字"
    assert clean("x\u202ey\n") == "x\\u202ey\\x0a"


def test_wide_and_combining_characters_have_their_cells():
    assert cells("ab") == 2
    assert cells("漢字") == 4
    assert cells("e\u0301") == 1


@given(st.text())
def test_what_is_cleaned_is_printable_and_stays_so(text):
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in cleaned)
