"""Aider's history: literal lines in, literal events and rows out."""

from __future__ import annotations

import os
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.ingest import aider, formats
from workbench.ingest.aider.usage import usage_payload

DATA = Path(os.environ.get("WORKBENCH_DATA") or Path(__file__).parents[3] / "shared" / "data")
REAL = DATA / "transcripts" / "aider" / "aider.chat.history.md"

START = "\n# aider chat started at 2026-03-02 10:00:00\n\n"
LATER = "\n# aider chat started at 2026-03-02 11:30:00\n\n"
SESSION = "aider-20260302-100000"

# -- what Aider writes ---------------------------------------------------------------------------------------------


def prompt(text):
    """As it writes what a person typed."""
    lines = "  \n#### ".join(text.splitlines() or ["<blank>"])
    return f"\n#### {lines}".rstrip() + "  \n"


def answer(text):
    """As it writes what the model said."""
    return f"\n{text.strip()}\n\n"


def message(text):
    """As it writes what the tool says; only the first line gets the mark."""
    return f"> {text.strip()}".rstrip() + "  \n"


# -- what is read --------------------------------------------------------------------------------------------------


def read(*parts):
    return aider.read("".join(parts).encode(), "demo/.aider.chat.history.md")


def told(source):
    """Kind and payload of every event but the starts of chats; ids that the reader made are left out."""
    ids = {"message_id", "tool_call_id"}
    events = [
        (draft.kind, {name: value for name, value in draft.payload.items() if name not in ids})
        for record in source.records
        for draft in record.drafts
    ]
    return [event for event in events if event[1] != {"type": "chat_started"}]


def prompts(source):
    return [payload["text"] for kind, payload in told(source) if kind == "user_message"]


def said(*parts):
    """What is told of one chat."""
    return told(read(START, *parts))


def shown(text):
    return "ui_transcript", {"type": "tool_output", "text": text}


def typed(text):
    return "user_message", {"text": text}


def spoken(text, model=None):
    return "agent_message", {"text": text, "model": model}


def stopped(text="^C again to exit"):
    return "system_note", {"type": "turn_interrupted", "text": text}


def ids(source):
    return [record.record_id for record in source.records]


# -- telling the format --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "head", "is_ours"),
    [
        (".aider.chat.history.md", START, True),
        (".aider.chat.history.md", "> the end of a chat  \n" + START, True),
        ("history-of-march.md", START, True),
        ("history-of-march.md", "\ufeff# aider chat started at 2026-03-02 10:00:00\r\n", True),
        ("notes.md", "Aider says:\n" + START, False),
        ("notes.md", "# aider chat started at noon\n", False),
        ("README.md", "# A project\n\n#### A prompt  \n", False),
        (".aider.chat.history.md", "# Chats\n\nnone yet\n", False),
        (".aider.chat.history.md", "", False),
        ("chat.txt", START, False),
    ],
)
def test_a_history_is_told_by_its_first_line_or_its_usual_name_and_a_start(name, head, is_ours):
    assert aider.sniff(head.encode(), name) is is_ours


# -- events --------------------------------------------------------------------------------------------------------


def test_a_chat_is_a_session_with_its_events_in_order():
    source = read(
        START,
        message("/bin/aider --model gpt-4o"),
        message("Aider v0.48.1"),
        message("Models: gpt-4o with diff edit format, weak model gpt-4o-mini"),
        prompt("Add a guard clause."),
        answer("Here it is."),
        message("Tokens: 7,691 sent, 420 received. Cost: $0.03 request, $0.06 session."),
        message("Applied edit to demo.py"),
        message("Commit 7d56889 feat: guard"),
        prompt("/undo"),
        message("Removed the last commit."),
    )
    reply = source.records[4].record_id
    call = source.records[6].record_id
    assert [
        (record.line, draft.kind, draft.actor, draft.payload) for record in source.records for draft in record.drafts
    ] == [
        (2, "system_note", "kernel", {"type": "chat_started"}),
        (4, "ui_transcript", "kernel", {"type": "tool_output", "text": "/bin/aider --model gpt-4o"}),
        (
            5,
            "ui_transcript",
            "kernel",
            {
                "type": "tool_output",
                "text": "Aider v0.48.1\nModels: gpt-4o with diff edit format, weak model gpt-4o-mini",
            },
        ),
        (8, "user_message", "user", {"text": "Add a guard clause."}),
        (10, "agent_message", "agent", {"text": "Here it is.", "message_id": reply, "model": "gpt-4o"}),
        (
            12,
            "usage",
            "kernel",
            {
                "message_id": reply,
                "model": "gpt-4o",
                "input_tokens": 7691,
                "output_tokens": 420,
                "cache_read_tokens": None,
                "cache_write_tokens": None,
                "text": "Tokens: 7,691 sent, 420 received. Cost: $0.03 request, $0.06 session.",
                "reported_cost_usd": 0.03,
            },
        ),
        (
            13,
            "tool_call",
            "agent",
            {
                "tool": "edit",
                "tool_call_id": call,
                "args": {"path": "demo.py"},
                "message_id": reply,
                "model": "gpt-4o",
            },
        ),
        (
            13,
            "tool_result",
            "tool",
            {"tool": "edit", "tool_call_id": call, "result": "Applied edit to demo.py", "is_error": False},
        ),
        (14, "ui_transcript", "kernel", {"type": "tool_output", "text": "Commit 7d56889 feat: guard"}),
        (16, "user_message", "user", {"text": "/undo"}),
        (17, "ui_transcript", "kernel", {"type": "tool_output", "text": "Removed the last commit."}),
    ]
    assert (source.session_id, source.session_ids, source.role, source.lines, source.issues) == (
        SESSION,
        [SESSION],
        "main",
        17,
        [],
    )
    environments = [record.environment for record in source.records if record.environment]
    assert environments == [("aider", None, None, None), ("aider", None, None, "0.48.1")]


def test_only_the_start_has_a_time_and_it_lacks_a_zone():
    source = read(START, prompt("hi"))
    assert [(record.occurred_at, record.time_source) for record in source.records] == [
        (datetime(2026, 3, 2, 10, tzinfo=UTC), "no_zone"),
        (None, "missing"),
    ]


def test_a_start_without_a_possible_time_is_still_a_start():
    source = read("# aider chat started at 2026-13-45 99:99:99\n")
    assert (source.session_id, source.records[0].time_source) == ("aider-20261345-999999", "unreadable")


def test_marks_inside_an_answer_stay_in_the_answer():
    text = (
        "Here is the plan:\n\n#### Steps\n\n> a quotation\n\n1. edit\n\n"
        "```md\n#### not a prompt  \n> not a tool line  \n\n# aider chat started at 2026-01-01 00:00:00\n\n"
        "#### nor this  \n```\n\nThat is all."
    )
    assert said(prompt("Plan."), answer(text), message("Applied edit to a.py"))[:2] == [typed("Plan."), spoken(text)]


def test_an_answer_that_breaks_off_in_a_fence_hides_nothing_that_follows():
    broken = "Sure:\n\n```python\nimport os"
    whole = "Again:\n\n```\ncode\n```"
    parts = [prompt("one"), message("^C again to exit"), answer(broken), prompt("two"), answer(whole)]
    assert said(*parts) == [typed("one"), stopped(), spoken(broken), typed("two"), spoken(whole)]
    source = read(START, *parts, LATER, prompt("three"))
    assert (len(source.session_ids), prompts(source)) == (2, ["one", "two", "three"])


@pytest.mark.parametrize(
    "text",
    [
        "one line",
        "two\nlines",
        "a\n\nb",
        "  indented\n\tand tabs",
        "trailing  \nspaces ",
        "blank\n\n",
        "#### heading\n> quote",
        "```\nx\n```",
    ],
)
def test_a_prompt_is_read_as_it_was_typed(text):
    assert said(prompt(text)) == [typed(kept(text))]


def test_a_prompt_that_is_empty_is_told_as_aider_tells_it():
    assert said(prompt("")) == [typed("<blank>")]


@pytest.mark.parametrize(
    "lines",
    ["#### Steps", "#### Steps  \n#### more", "text\n#### Steps  ", "##### Steps  "],
)
def test_what_lacks_the_spaces_or_the_blank_line_is_no_prompt(lines):
    assert said(prompt("go"), answer(f"Plan:\n\n{lines}\nend")) == [typed("go"), spoken(f"Plan:\n\n{lines}\nend")]


@pytest.mark.parametrize(
    ("parts", "events"),
    [
        ([message("one"), message("two")], [shown("one\ntwo")]),
        ([message(""), message("two")], [shown("\ntwo")]),
        ([message("Commit 1 fix\nbuild: more"), message("next")], [shown("Commit 1 fix\nbuild: more\nnext")]),
        (
            [prompt("!ls"), message("CNAME\nLICENSE\n\nREADME.md\n>   marked\nlast"), message("Added")],
            [typed("!ls"), shown("CNAME\nLICENSE\n\nREADME.md\n>   marked\nlast\nAdded")],
        ),
        ([message("one"), "goes on\n\nAn answer.\n"], [shown("one\ngoes on"), spoken("An answer.")]),
        ([message("one"), "> goes on\n\n", message("two")], [shown("one\ngoes on\ntwo")]),
        ([message("one"), answer("> quoted by the model")], [shown("one"), spoken("> quoted by the model")]),
    ],
)
def test_a_message_of_the_tool_may_have_several_lines(parts, events):
    assert said(*parts) == events


@pytest.mark.parametrize(
    ("parts", "stops"),
    [
        ([prompt("hi"), message("^C KeyboardInterrupt")], 1),
        ([prompt("hi"), message("^C again to exit"), answer("Half")], 1),
        ([prompt("hi"), message("^C again to exit"), message("^C KeyboardInterrupt")], 1),
        ([message("^C again to exit"), message("^C KeyboardInterrupt")], 0),
        ([prompt("hi"), answer("Yes."), message("^C again to exit")], 0),
        ([prompt("hi"), message("Tokens: 5 sent, 6 received."), message("^C again to exit")], 0),
        ([prompt("hi"), answer("Yes."), message("Fixing"), message("^C again to exit"), answer("Half")], 1),
        ([prompt("/add a.py"), message("^C again to exit")], 0),
        ([prompt("/ask why"), message("^C again to exit")], 1),
        ([prompt("!make"), message("^C again to exit"), prompt("hi"), answer("Yes.")], 0),
    ],
)
def test_an_interrupt_counts_where_the_model_was_at_work(parts, stops):
    assert Counter(payload.get("type") for _, payload in said(*parts))["turn_interrupted"] == stops


@pytest.mark.parametrize(
    ("line", "model"),
    [
        ("Model: gpt-4o-mini with whole edit format", "gpt-4o-mini"),
        ("Main model: openrouter/anthropic/claude with diff edit format", "openrouter/anthropic/claude"),
        ("Models: gpt-4o with diff edit format, weak model gpt-4o-mini", "gpt-4o"),
        ("Model: some-model", "some-model"),
        ("Model gpt-9: Unknown context window size and costs", None),
    ],
)
def test_answers_have_the_model_that_was_told_last(line, model):
    assert said(message(line), prompt("hi"), answer("Yes."))[-1] == spoken("Yes.", model)


def test_an_answer_without_a_prompt_is_one_all_the_same():
    assert said(message("/bin/aider --lint"), answer("Fixed.")) == [shown("/bin/aider --lint"), spoken("Fixed.")]


def test_a_file_that_begins_in_the_middle_of_a_chat_keeps_that_with_the_first():
    source = read("half an answer\n\n", message("done"), prompt("old"), answer("old answer"), START, prompt("new"))
    assert told(source) == [
        ("unknown", {"record": {"type": "text", "text": "half an answer"}}),
        shown("done"),
        typed("old"),
        spoken("old answer"),
        typed("new"),
    ]
    assert {record.session_id for record in source.records} == {SESSION}
    assert [(issue.line, issue.issue, issue.count) for issue in source.issues] == [
        (1, "no_chat_start", 1),
        (1, "unknown_record", 1),
    ]


# -- usage ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "figures", "more"),
    [
        ("Tokens: 642 sent, 25 received.", (642, 25, None, None), {}),
        (
            "Tokens: 7,691 sent, 420 received. Cost: $0.03 request, $0.06 session.",
            (7691, 420, None, None),
            {"cost": 0.03},
        ),
        (
            "Tokens: 1.2k sent, 300 received. Cost: $0.0051 message, $1.20 session.",
            (1200, 300, None, None),
            {"cost": 0.0051, "approximate": True},
        ),
        (
            "Tokens: 12k sent, 2.0k cache write, 8.5k cache hit, 1.1k received.",
            (1500, 1100, 8500, 2000),
            {"approximate": True},
        ),
        ("Tokens: 900 sent, 600 cache hit, 10 received.", (300, 10, 600, None), {}),
        ("Tokens: 500 sent, 200 cache write, 700 cache hit, 10 received.", (300, 10, 700, 200), {}),
        ("Tokens: 1.5M sent, 2 received.", (1_500_000, 2, None, None), {"approximate": True}),
    ],
)
def test_tokens_are_told_apart_and_rounded_ones_are_marked(text, figures, more):
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    payload = usage_payload(text)
    assert tuple(payload.pop(name) for name in names) == figures
    assert payload.pop("text") == text
    assert payload == {"reported_cost_usd" if name == "cost" else name: value for name, value in more.items()}


@pytest.mark.parametrize("text", ["Tokens: many sent, few received.", "Tokens: 5 sent", "5 sent, 6 received.", ""])
def test_what_tells_no_figures_is_no_usage(text):
    assert usage_payload(text) is None


def test_with_caching_the_cost_comes_in_a_message_of_its_own():
    events = said(
        prompt("hi"),
        answer("Yes."),
        message("Tokens: 12k sent, 2.0k cache write, 8.5k cache hit, 1.1k received."),
        message("Cost: $0.02 message, $0.10 session."),
    )
    assert events[-2][1]["reported_cost_usd"] == 0.02


def test_a_second_call_of_one_answer_counts_for_itself():
    source = read(START, prompt("hi"), answer("Yes."), *[message("Tokens: 5 sent, 6 received.")] * 2)
    usage = [draft.payload for record in source.records for draft in record.drafts if draft.kind == "usage"]
    assert [each["message_id"] for each in usage] == [source.records[2].record_id, None]


# -- ids -----------------------------------------------------------------------------------------------------------

CHATS = [
    START,
    message("Aider v0.48.1"),
    prompt("hi"),
    answer("Yes."),
    prompt("hi"),
    answer("Yes."),
    message("Tokens: 5 sent, 6 received."),
    START,
    prompt("hi"),
    LATER,
    prompt("hi"),
    message("^C KeyboardInterrupt"),
]


def test_chats_that_start_in_one_second_are_counted():
    source = read(*CHATS)
    assert source.session_ids == [SESSION, f"{SESSION}-2", "aider-20260302-113000"]
    assert source.session_id == SESSION


def test_ids_are_all_different_and_stay_when_the_file_grows():
    whole = ids(read(*CHATS))
    assert len(set(whole)) == len(whole)
    for end in range(len(CHATS)):
        assert ids(read(*CHATS[:end])) == whole[: end and len(ids(read(*CHATS[:end])))]


def test_a_copy_elsewhere_tells_the_same():
    data = "".join(CHATS).encode()
    assert aider.read(data, "one/.aider.chat.history.md") == aider.read(data, "/other/history.md")
    assert aider.parent_path("a/b.md", SESSION) == "a/b.md"


# -- odd files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.removesuffix(b"\n"),
        lambda data: data.lstrip(b"\n"),
    ],
    ids=["CRLF", "BOM", "no line end", "no blank line"],
)
def test_other_line_ends_tell_the_same(change):
    data = "".join(CHATS).encode()
    assert told(aider.read(change(data), "")) == told(aider.read(data, ""))


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", 0),
        (b"\n", 1),
        (b"no start\n", 1),
        (b"\x00\xff\xfe\n\x80", 2),
        (b"#### \n####   \n>  \n> ", 4),
        (b"\r\n\r", 2),
    ],
)
def test_a_file_without_a_chat_has_no_session(data, lines):
    source = aider.read(data, "")
    assert (source.session_id, source.session_ids, source.lines) == (None, [], lines)


def test_bytes_that_are_no_text_stay_visible():
    source = aider.read(START.encode() + b"\n#### caf\xe9  \n", "")
    assert prompts(source) == ["caf\N{REPLACEMENT CHARACTER}"]


# -- any file ------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["edit", "the file", "demo.py", "#", "# heading", "> ", "a > b", "1. first", "é 漢字", "^C", "``"]
)
TYPED = st.lists(
    st.one_of(WORDS, st.sampled_from(["", "#### x", "> y", "```", "```py", START.strip()])), min_size=1, max_size=4
)
MARKS = st.sampled_from(["#### not a prompt  ", "#### nor this", "> not a message  ", START.strip(), "", "code"])
QUOTING = st.lists(MARKS, max_size=4).map(lambda lines: "\n".join(["```md", *lines, "```"]))
PARAGRAPH = st.one_of(
    WORDS, QUOTING, st.sampled_from(["#### A heading", "#### One\n#### Two", "> quoted\n> twice", "##### x  "])
)
SAID = st.lists(PARAGRAPH, min_size=1, max_size=4).map("\n\n".join)
MESSAGES = st.sampled_from(
    ["Added demo.py", "", "^ here", "Applied|Commit 1 fix\nmore", "Added|three\n\n> lines\nend|Added"]
)
WRITTEN = st.one_of(
    st.tuples(st.just("user_message"), TYPED.map("\n".join).filter(str.strip)),
    st.tuples(st.just("agent_message"), SAID.map(str.strip).filter(bool)),
    st.tuples(st.just("ui_transcript"), MESSAGES),
)


def written(kind, text):
    """A part of a chat as it stands in the file; of messages `|` tells where the next begins."""
    if kind == "ui_transcript":
        return "".join(map(message, text.split("|")))
    return prompt(text) if kind == "user_message" else answer(text)


def merged(parts):
    """Messages of the tool one after the other are one event, as are answers that nothing separates."""
    found = []
    for kind, text in parts:
        if found and kind == found[-1][0] != "user_message":
            between = "|" if kind == "ui_transcript" else "\n\n\n"
            found[-1] = (kind, f"{found[-1][1]}{between}{text}")
        else:
            found.append((kind, text))
    return [(kind, kept(text) if kind == "user_message" else text.replace("|", "\n")) for kind, text in found]


def kept(text):
    """What Aider keeps of a prompt: not the white space at its end, but a last line that is blank."""
    *lines, last = text.splitlines()
    return "\n".join([*lines, last.rstrip()])


@given(st.lists(st.lists(WRITTEN, max_size=6), min_size=1, max_size=3))
def test_what_was_written_is_read_back(chats):
    chats = [[("user_message", "go"), *chat] for chat in chats]
    source = read(*(START + "".join(written(*part) for part in chat) for chat in chats))
    assert len(source.session_ids) == len(chats)
    assert [(kind, payload["text"]) for kind, payload in told(source)] == [
        part for chat in chats for part in merged(chat)
    ]


ANY_LINE = st.one_of(
    st.sampled_from(
        ["", "  ", "#### ", "####   ", "#### a  ", "> ", ">  ", "> b  ", "> b", "c", "d  ", "```", "```py", "~~~"]
    ),
    st.sampled_from(
        [START.strip(), LATER.strip(), "# aider chat started at x", "> Tokens: 1.2k sent, 3 received.  ", "> ^C  "]
    ),
    st.text(max_size=8),
)


@given(st.lists(ANY_LINE, max_size=25).map("\n".join))
def test_no_text_is_lost_whatever_the_lines_are(text):
    source = read(text)
    payloads = [payload | payload.get("record", {}) for _, payload in told(source)]
    whole = "\n".join(payload[name] for payload in payloads for name in ("text", "result") if name in payload)
    for line in text.split("\n"):
        words = line.removesuffix("\r").removeprefix("\ufeff").strip().lstrip("#>").strip()
        assert words in whole or words.startswith("aider chat started at ")


# -- rows ----------------------------------------------------------------------------------------------------------


def test_rows_count_prompts_answers_and_files_written(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "FORMATS", {aider.NAME: aider})
    path = tmp_path / "demo" / ".aider.chat.history.md"
    path.parent.mkdir()
    text = [
        *CHATS[:4],
        message("Tokens: 1.2k sent, 300 received."),
        message("Applied edit to b.py"),
        message("Applied edit to a.py"),
        message("Applied edit to b.py"),
        prompt("/undo"),
    ]
    path.write_text("".join(text), encoding="utf-8")
    bench.ingest(path)
    columns = (
        "session_id, agent, agent_version, title, started_at, prompts, responses, tool_calls, model_calls, input_tokens"
    )
    assert bench.sql(f"select {columns}, cache_read_tokens, cwd from sessions").rows() == [
        (SESSION, "aider", "0.48.1", "hi", datetime(2026, 3, 2, 10, tzinfo=UTC), 2, 1, 3, 1, 1200, None, None)
    ]
    exchanges = "select turn, user_text, assistant_text, files_written, responses from turn_records order by turn"
    assert bench.sql(exchanges).rows() == [(1, "hi", "Yes.", ["b.py", "a.py"], 1), (2, "/undo", "", [], 0)]
    path.write_text("".join([*text, LATER, prompt("next")]), encoding="utf-8")
    bench.ingest(path)
    assert bench.sql("select session_id, prompts from sessions order by session_id").rows() == [
        (SESSION, 2),
        ("aider-20260302-113000", 1),
    ]


@pytest.mark.skipif(not REAL.is_file(), reason="not in this clone: the real data of WORKBENCH_DATA")
def test_the_real_history_gives_the_counts_of_its_readme():
    source = aider.read(REAL.read_bytes(), str(REAL))
    kinds = Counter(kind for kind, _ in told(source))
    assert aider.sniff(REAL.read_bytes()[:65_536], REAL.name)
    assert (len(source.session_ids), len(set(source.session_ids)), source.lines) == (296, 296, 23_830)
    assert (kinds["user_message"], kinds["agent_message"], kinds["usage"]) == (443, 186, 163)
    assert sum(len(text.split("\n")) for text in prompts(source)) == 616  # 620 lines with the mark, 4 of them headings
    assert (kinds["tool_call"], kinds["tool_result"], kinds["unknown"]) == (87, 87, 1)
    assert len(set(ids(source))) == len(source.records)
    assert [issue.issue for issue in source.issues] == ["no_chat_start", "unknown_record"]
