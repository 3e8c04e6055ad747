from __future__ import annotations

import hashlib
import os
import threading
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.text import ids
from workbench.text.ids import DerivedIds, content_hash, derived_id, new_ulid

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
MS = 1_764_500_000_000


def number(ulid: str) -> int:
    value = 0
    for char in ulid:
        value = value * 32 + ALPHABET.index(char)
    return value


def milliseconds(ulid: str) -> int:
    return number(ulid) >> 80


def test_a_new_ulid_carries_the_time():
    before = time.time_ns() // 1_000_000
    ulid = new_ulid()
    assert len(ulid) == 26
    assert before <= milliseconds(ulid) <= time.time_ns() // 1_000_000 + 1


def test_ulids_of_one_process_ascend():
    made = [new_ulid() for _ in range(5_000)]
    assert all(a < b for a, b in pairwise(made))


def test_ulids_ascend_while_the_clock_steps_back(monkeypatch):
    sequence = ids._Sequence()
    made = []
    for ms in (MS, MS, MS - 3_600_000, MS - 1, MS + 1, 0):
        monkeypatch.setattr(time, "time_ns", lambda ms=ms: ms * 1_000_000)
        made.append(sequence.next())
    assert all(a < b for a, b in pairwise(made))
    assert [milliseconds(ulid) - MS for ulid in made] == [0, 0, 0, 0, 1, 1]


def test_a_full_millisecond_runs_over_into_the_next(monkeypatch):
    monkeypatch.setattr(time, "time_ns", lambda: MS * 1_000_000)
    monkeypatch.setattr(os, "urandom", lambda size: b"\xff" * size)
    sequence = ids._Sequence()
    assert [sequence.next() for _ in range(2)] == ["01KBA6AK80ZZZZZZZZZZZZZZZZ", "01KBA6AK810000000000000000"]


def test_a_clock_before_1970_counts_as_1970(monkeypatch):
    monkeypatch.setattr(time, "time_ns", lambda: -5)
    assert milliseconds(ids._Sequence().next()) == 0


def test_threads_never_share_a_ulid():
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.extend([new_ulid() for _ in range(2_000)])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == len(made) == 8_000


def test_a_restarted_sequence_does_not_go_on_counting(monkeypatch):
    monkeypatch.setattr(time, "time_ns", lambda: MS * 1_000_000)
    sequence = ids._Sequence()
    before = number(sequence.next())
    sequence.restart()
    assert number(sequence.next()) != before + 1


def test_a_derived_id_is_the_same_for_ever():
    assert derived_id(MS, "session", "record") == "01KBA6AK803DMKMEM560M3S1PG"
    assert derived_id(None) == "0000000000MD042HY4SYTHE3P7"


def test_the_time_of_a_derived_id_is_clipped():
    latest = (1 << 48) - 1
    times = [None, -5, 0, 1, MS, latest, latest + 1]
    assert [milliseconds(derived_id(ms, "x")) for ms in times] == [0, 0, 0, 1, MS, latest, latest]


def test_the_tail_is_the_low_five_bits_of_each_byte_of_the_hash():
    digest = hashlib.blake2b(b"a\0b", digest_size=16).digest()
    assert derived_id(0, "a", "b") == "0" * 10 + "".join(ALPHABET[byte % 32] for byte in digest)


@given(st.none() | st.integers(-1, 1 << 49), *[st.text("\0ab\ud800é", max_size=4)] * 3)
def test_ids_of_things_with_a_common_first_part_are_the_same_ones(ms, first, second, third):
    assert DerivedIds(first).of(ms, second, third) == derived_id(ms, first, second, third)


def test_derived_ids_sort_by_time():
    made = [derived_id(ms, "x") for ms in (0, 1, 31, 32, 1_023, 1_024, 1 << 20, MS, MS + 1)]
    assert made == sorted(made)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (("ab", "c"), ("a", "bc")),
        (("a", ""), ("a",)),
        (("",), ()),
        (("a\0b",), ("a", "b")),
        (("a\0", "b"), ("a", "\0b")),
        (("1:a",), ("a",)),
        (("\ud83d",), ("?",)),
    ],
)
def test_parts_are_joined_without_ambiguity(a, b):
    assert derived_id(MS, *a) != derived_id(MS, *b)


PARTS = st.lists(st.text("a\0:1", max_size=4), max_size=4)


@given(PARTS, PARTS)
def test_ids_are_equal_only_for_equal_parts(a, b):
    assert (derived_id(MS, *a) == derived_id(MS, *b)) == (a == b)


@given(st.one_of(st.none(), st.integers()), st.lists(st.text(max_size=9), max_size=4))
def test_a_derived_id_has_the_shape_of_a_ulid(ms, parts):
    made = derived_id(ms, *parts)
    assert len(made) == 26
    assert number(made) < 1 << 128


def test_content_hash_of_text_and_of_its_bytes():
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert content_hash("abc") == content_hash(b"abc") == expected
    assert content_hash("é") == content_hash("é".encode())
    assert content_hash("\ud83d") == content_hash(b"\xed\xa0\xbd")
