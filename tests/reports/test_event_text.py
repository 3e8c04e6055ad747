"""The whole text of an event, out of a real lake."""

import pytest
from hostile_sessions import HOSTILE, HOSTILE_SESSION, PLAIN_SESSION, write_hostile_sessions

import workbench as wb
from workbench.errors import NotFoundError
from workbench.reports.event_text import PART_CHARACTERS, read_event


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("events")
    bench = wb.open(folder / "home")
    bench.ingest(write_hostile_sessions(folder))
    return bench


def event_of(bench, table, column, where):
    return bench.sql(f"select {column} from {table} where {where} order by seq limit 1")[column][0]


def test_a_call_is_its_arguments_and_its_result(bench):
    event_id = event_of(bench, "tool_calls", "call_event_id", f"session_id = '{PLAIN_SESSION}'")
    told = read_event(bench.sql, PLAIN_SESSION, event_id, "tool")
    assert told.title == "Bash call"
    assert [(part.name, part.text) for part in told.parts] == [
        ("command", "Fix the build"), ("file_path", "/srv/work/Fix the build"), ("Fix the build", "Fix the build"),
        ("result", "Fix the build"),
    ]  # fmt: skip
    facts = dict(told.facts)
    assert (facts["status"], facts["exchange"], facts["took"]) == ("ok", "1", "1.0 s")
    assert facts["called"].endswith(" UTC")


def test_a_response_has_its_thoughts(bench):
    event_id = event_of(bench, "turns", "event_id", f"session_id = '{PLAIN_SESSION}' and role = 'assistant'")
    told = read_event(bench.sql, PLAIN_SESSION, event_id, "response")
    assert (told.title, [part.name for part in told.parts]) == ("response", ["thinking", "text"])
    assert dict(told.facts)["model"] == "claude-sonnet-4-5-20250929"


def test_any_other_event_is_its_payload(bench):
    event_id = event_of(bench, "events", "event_id", f"session_id = '{PLAIN_SESSION}' and kind = 'tool_result'")
    told = read_event(bench.sql, PLAIN_SESSION, event_id)
    assert told.title == "tool result"
    assert ("result", "Fix the build") in [(part.name, part.text) for part in told.parts]


def test_every_text_is_made_visible(bench):
    place = next(n for n, text in enumerate(HOSTILE) if "\x1b" in text)
    event_id = bench.sql(
        "select call_event_id as id from tool_calls where session_id = $id order by seq", {"id": HOSTILE_SESSION}
    )["id"][place]
    told = read_event(bench.sql, HOSTILE_SESSION, event_id, "tool")
    assert "\x1b" not in str(told.plain())
    assert told.parts[-1].text == "red link  end"


def test_a_text_of_a_megabyte_is_cut_and_says_so(bench):
    event_id = bench.sql("select call_event_id as id from tool_calls order by length(result) desc limit 1")["id"][0]
    text = read_event(bench.sql, HOSTILE_SESSION, event_id, "tool").parts[-1].text
    assert text.endswith(f"[{1_000_005 - PART_CHARACTERS:,} more characters: they are in the tables]")


def test_an_event_that_is_not_there_is_named(bench):
    with pytest.raises(NotFoundError, match="has no event 'nothing'"):
        read_event(bench.sql, PLAIN_SESSION, "nothing")
