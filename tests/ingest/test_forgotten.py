"""What is left of a source without some of its sessions: the others as they were, line numbers included."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcripts import OTHER, SESSION, jsonl, prompt, small_session

from workbench.ingest.forgotten import ForgottenError, InseparableError, left_of, without
from workbench.ingest.formats import FORMATS
from workbench.store.tombstones import Tombstones
from workbench.text.ids import content_hash

CLAUDE, AIDER = FORMATS["claude-code"], FORMATS["aider"]
SESSIONS = [f"00000000-0000-4000-8000-00000000000{number}" for number in range(4)]
PATH = f"/srv/{SESSIONS[0]}.jsonl"


def of(parsed, session):
    return [record for record in parsed.records if (record.session_id or parsed.session_id) == session]


@given(
    order=st.lists(st.sampled_from([*SESSIONS, "blank", "broken"]), min_size=1, max_size=30),
    forgotten=st.sets(st.sampled_from(SESSIONS), min_size=1),
    ends=st.booleans(),
)
def test_in_json_lines_every_record_of_every_other_session_stays_what_it_was(order, forgotten, ends):
    odd = {"blank": b"", "broken": b'{"MARK'}
    lines = [
        odd.get(who) if who in odd else prompt(f"u{number}", f"of {who} MARK" * (who in forgotten), session=who)
        for number, who in enumerate(order)
    ]
    data = jsonl(*lines)[: None if ends else -1]
    parsed = CLAUDE.read(data, PATH)
    kept = set(parsed.session_ids) - forgotten
    if not kept or not forgotten.intersection(parsed.session_ids):
        return
    shorter, again = without(data, parsed, CLAUDE, PATH, forgotten)
    assert set(again.session_ids) == kept
    assert all(of(again, session) == of(parsed, session) for session in kept)
    assert b"MARK" not in shorter
    assert shorter.count(b"\n") == data.count(b"\n")
    assert CLAUDE.read(shorter, PATH) == again


def test_a_chat_in_the_middle_of_a_history_is_made_empty():
    start = b"# aider chat started at 2025-03-0%d 10:00:00\n\n#### ask %d\n\n%s\n\n"
    data = b"".join(start % (day, day, text) for day, text in enumerate((b"one\n\nmore", b"MARK\nMARK", b"three"), 1))
    parsed = AIDER.read(data, "/srv/.aider.chat.history.md")
    shorter, again = without(data, parsed, AIDER, "/srv/.aider.chat.history.md", {parsed.session_ids[1]})
    assert (
        shorter
        == data[: data.index(b"# aider chat started at 2025-03-02")]
        + b"\n" * 7
        + data[data.index(b"# aider chat started at 2025-03-03") :]
    )
    assert [record.line for record in of(again, again.session_ids[1])] == [
        record.line for record in of(parsed, parsed.session_ids[2])
    ]


def test_two_sessions_in_one_line_cannot_be_taken_apart():
    """A format whose file is one JSON document with records of two sessions on its first line."""

    class OneLine:
        def read(self, data, path):
            parsed = CLAUDE.read(data.replace(b"\t", b"\n"), path)
            for record in parsed.records:
                record.line = 1
            return parsed

    data = jsonl(prompt("a", "one"), prompt("b", "two", session=OTHER)).strip().replace(b"\n", b"\t")
    form = OneLine()
    with pytest.raises(InseparableError, match=rf"/srv/x\.json tells .*\({OTHER}\): forget these as well, or none"):
        without(data, form.read(data, "/srv/x.json"), form, "/srv/x.json", {SESSION})


def test_what_an_import_may_take():
    data = jsonl(*small_session(), *small_session(OTHER, "b"))
    parsed = CLAUDE.read(data, PATH)

    def left(*buried, lifted=False):
        met = set()
        stones = Tombstones(map(content_hash, buried), lifted=lifted)
        return left_of(data, parsed, CLAUDE, PATH, stones, met), met

    assert left("another") == ((data, parsed), set())
    (shorter, again), met = left(SESSION)
    assert (again.session_ids, met) == ([OTHER], {SESSION})
    assert shorter == b"\n" * 4 + jsonl(*small_session(OTHER, "b"))
    assert left(SESSION, lifted=True) == ((data, parsed), {SESSION})
    with pytest.raises(ForgottenError):
        left(SESSION, OTHER)
