"""The sample sessions: made again they are the same, and the counts beside them are true."""

import json
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
MADE = ("claude-code", "event-log", "expected.toml", "vault", "vault.toml")
TOOL_DEPENDENT = {"input_tokens", "cache_read_tokens", "cache_write_tokens"}
TWO_MEGABYTES = 2_000_000


def make(folder):
    subprocess.run(
        [sys.executable, DATASETS / "make_samples.py", "--out", folder], check=True, capture_output=True, timeout=280
    )
    return folder


def expected(folder=DATASETS):
    return tomllib.loads((folder / "expected.toml").read_text(encoding="utf-8"))


def contents(folder):
    files = (path for name in MADE for path in sorted([folder / name, *(folder / name).rglob("*")]))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files if path.is_file()}


def scripted(folder):
    """The counts that follow from the script alone, whatever the tools said."""
    sessions = expected(folder)["sessions"]
    return [{name: value for name, value in session.items() if name not in TOOL_DEPENDENT} for session in sessions]


def records(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def sessions(kind):
    return [
        pytest.param(session, id=session["scenario"]) for session in expected()["sessions"] if session["format"] == kind
    ]


def test_the_samples_made_again_are_the_same(tmp_path):
    first = make(tmp_path / "first")
    assert scripted(first) == scripted(DATASETS)
    has_the_same_tools = expected(first)["made_with"] == expected()["made_with"]
    other = DATASETS if has_the_same_tools else make(tmp_path / "second")
    ours, theirs = contents(first), contents(other)
    assert [name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)] == []


@pytest.mark.parametrize("session", sessions("claude-code"))
def test_counts_of_a_claude_code_session_are_true(session):
    """Counted a second time, from the files: a record belongs to the session id it carries."""
    output, errors, main_calls, all_calls, main_responses = {}, set(), set(), set(), set()
    prompts = 0
    for record in _records_of(session):
        nested = record.get("data", {}).get("message")
        sidechain = record.get("isSidechain") or bool(nested)
        message = (nested or record).get("message", {})
        kind = (nested or record)["type"]
        blocks = message.get("content", [])
        if kind == "assistant":
            output[message["id"]] = max(output.get(message["id"], 0), message["usage"]["output_tokens"])
            calls = {block["id"] for block in blocks if block["type"] == "tool_use"}
            all_calls |= calls
            if not sidechain:
                main_calls |= calls
                main_responses.add(message["id"])
        elif kind == "user" and isinstance(blocks, list):
            errors |= {block["tool_use_id"] for block in blocks if block.get("is_error")}
        prompts += not sidechain and ("permissionMode" in record or kind == "attachment")
    assert session["prompts"] == prompts
    assert session["responses"] == len(main_responses)
    assert session["responses_all"] == len(output)
    assert session["tool_calls_main"] == len(main_calls)
    assert session["tool_calls_all"] == len(all_calls)
    assert session["errors"] == len(errors)
    assert session["output_tokens"] == sum(output.values())


def _records_of(session):
    found = [record for path in session["files"] for record in records(DATASETS / path)]
    return [record for record in found if record.get("sessionId") == session["session_id"]]


@pytest.mark.parametrize("session", sessions("event-log"))
def test_counts_of_an_event_log_are_true(session):
    kinds = defaultdict(list)
    (path,) = session["files"]
    events = records(DATASETS / path)
    for event in events:
        kinds[event["kind"]].append(event["payload"])
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert len({event["event_id"] for event in events}) == session["records"] == len(events)
    assert session["prompts"] == len(kinds["user_message"])
    assert session["responses"] == len({payload["message_id"] for payload in kinds["usage"]})
    assert session["tool_calls_all"] == len(kinds["tool_call"]) == len(kinds["tool_result"])
    assert session["errors"] == sum(payload["is_error"] for payload in kinds["tool_result"])
    assert session["context_actions"] == len(kinds["context_action"])
    assert session["output_tokens"] == sum(payload["output_tokens"] for payload in kinds["usage"])


def test_every_file_has_as_many_lines_as_stated_and_all_are_small():
    lines = {name: data.count(b"\n") for name, data in contents(DATASETS).items() if name.endswith(".jsonl")}
    assert lines == expected()["lines"]
    assert sum(map(len, contents(DATASETS).values())) < TWO_MEGABYTES


def test_counts_of_the_vault_are_true():
    """Counted a second time, note by note: names of files and aliases against names in links."""
    stated = tomllib.loads((DATASETS / "vault.toml").read_text(encoding="utf-8"))
    notes = {path.relative_to(DATASETS / "vault").as_posix(): path for path in (DATASETS / "vault").rglob("*.md")}
    names, linked, links, embeds = {"settling.svg": "settling.svg"}, set(), [], 0
    for name, path in notes.items():
        text = path.read_text(encoding="utf-8")
        front = text.split("---\n")[1] if text.startswith("---\n") else ""
        aliases = [line[4:] for line in front.splitlines() if line.startswith("  - ")]
        names |= dict.fromkeys((path.stem.lower(), name[:-3].lower(), *map(str.lower, aliases)), name)
    for name, path in notes.items():
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if "not a link" not in line]
        found = [part.split("]]")[0] for part in "\n".join(lines).split("[[")[1:]]
        embeds += "\n".join(lines).count("![[")
        targets = [names.get(each.split("|")[0].split("#")[0].lower()) for each in found]
        links += targets
        linked |= {target for target in targets if target} | ({name} if any(targets) else set())
    linked |= {name for name in notes if "](" in notes[name].read_text(encoding="utf-8")}
    assert stated == {
        "notes": len(notes),
        "wikilinks": len(links) - embeds,
        "embeds": embeds,
        "dangling": links.count(None),
        "aliases": len(names) - 1 - len({path.stem for path in notes.values()} | {name[:-3] for name in notes}),
        "unlinked": len(notes.keys() - linked),
    }


def test_the_resumed_session_begins_with_the_records_of_the_first():
    files = {session["scenario"]: session["files"][0] for session in expected()["sessions"]}
    first = (DATASETS / files["lost_cents"]).read_bytes()
    assert (DATASETS / files["lost_cents_again"]).read_bytes().startswith(first)
