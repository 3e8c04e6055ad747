"""The artifacts of a session, finding exchanges, where an artifact comes from."""

from __future__ import annotations

import json

import msgspec

from vectors.harness import assert_equal
from workbench.config.context import ContextEngine
from workbench.context.artifacts import Artifact, RetrievalError, Shelf
from workbench.context.checkpoint import CheckpointDecision, SessionCheckpoint
from workbench.context.event_turns import group_events
from workbench.context.ledger import TurnLedger
from workbench.context.lineage import render_lineage, trace_lineage
from workbench.context.payload import payload_text
from workbench.events import Event
from workbench.text.ids import content_hash
from workbench.text.tokens import estimate_tokens

from ._praana_context_records import decision_of, digest_of, present, record_of, time_of

SETTINGS = {
    "artifact_inline_threshold": ("artifact_inline_threshold", "inlineThreshold"),
    "artifact_ttl_turns": ("artifact_ttl_turns", "ttlTurns"),
}
THE_LOADER = {"turn": 0, "userMessage": "Open the loader"}
"""What the recorded case appends twice; its input does not say."""


def run(case_input):
    return OPERATIONS[case_input["op"]](case_input)


# -- the artifacts -----------------------------------------------------------------------------------------------------


def engine_of(config):
    given = {ours: config[name] for ours, names in SETTINGS.items() for name in names if name in config}
    return msgspec.structs.replace(ContextEngine(), **given)


def store(case_input):
    shelf = Shelf(engine_of(case_input["config"]))
    results = []
    for step in case_input["steps"]:
        results.append(STEPS[step["do"]](shelf, step, results))
    return results


def ingest(shelf, step, _):
    given = step["input"]
    made = shelf.ingest(
        given["sourceTool"],
        payload_text(given["rawText"]),
        given["createdTurn"],
        command=given.get("command"),
        content_type=given.get("contentType"),
    )
    if made.artifact is None:
        return {"promptText": given["rawText"], "inlined": True}
    return {
        "promptText": made.prompt_text,
        "artifactId": made.artifact.id,
        "inlined": False,
        "contentType": made.artifact.content_type,
        "rawTokens": made.artifact.raw_tokens,
        "accessCount": made.artifact.access_count,
        "lastAccessedTurn": made.artifact.last_accessed_turn,
    }


def retrieve(shelf, step, results):
    options = step.get("options", {})
    artifact_id = step["id"] if "id" in step else results[step["ref"]]["artifactId"]
    try:
        content = shelf.retrieve(
            artifact_id,
            step["turn"],
            grep=options.get("grep"),
            line_start=options.get("lineStart"),
            line_end=options.get("lineEnd"),
            json_path=options.get("jsonPath"),
        )
    except RetrievalError as error:
        return {"ok": False, "error": str(error)}
    return {"ok": True, "content": content}


STEPS = {
    "ingest": ingest,
    "retrieve": retrieve,
    "count": lambda shelf, _step, _results: len(shelf),
    "evict": lambda shelf, step, _results: len(shelf.evict(step["turn"])),
    "high": lambda shelf, step, _results: [each.id for each in shelf.high_value(step["min"])],
}


# -- finding exchanges -------------------------------------------------------------------------------------------------


def ledger_search(case_input):
    ledger = TurnLedger([record_of(record) for record in case_input["records"]])
    return [
        {
            "turn": match.record.turn,
            "score": match.score,
            "userMessage": match.record.user_message,
            "assistantMessage": match.record.assistant_message,
            "excerpt": match.excerpt,
            "artifactIds": list(match.record.artifact_ids),
            "filesRead": list(match.record.files_read),
            "filesWritten": list(match.record.files_written),
            "errors": list(match.record.errors),
            "timestamp": int(match.record.occurred_at.timestamp() * 1000),
        }
        for match in ledger.search(case_input["query"], case_input["limit"])
    ]


def append_twice(_):
    ledger = TurnLedger([record_of(THE_LOADER), record_of({**THE_LOADER, "userMessage": "another"})])
    return [record.user_message for record in ledger.records]


def grouped(case_input):
    events = [
        Event(
            event_id=given["event_id"],
            session_id=given["session_id"],
            seq=seq,
            occurred_at=time_of(given["timestamp"]),
            kind=given["kind"],
            actor=given["actor"],
            turn=0,
            parent_event_id=None,
            payload=given["payload"],
        )
        for seq, given in enumerate(case_input["events"], start=1)
    ]
    return [
        {
            "userMessage": group.prompt.payload.get("text", ""),
            "ids": [event.event_id for event in group.events],
        }
        for group in group_events(events)
    ]


# -- where an artifact comes from --------------------------------------------------------------------------------------


def artifact_of(given):
    return Artifact(
        id=given["id"],
        sha256=given["sha256"],
        source_tool=given["sourceTool"],
        command=given.get("command"),
        created_turn=given["createdTurn"],
        raw_tokens=given["rawTokens"],
        summary=given["summary"],
        content_type=given["contentType"],
        last_accessed_turn=given["lastAccessedTurn"],
        access_count=given["accessCount"],
    )


def checkpoint_of(given):
    decisions = given["state"].get("decisions", ()) if given else ()
    return SessionCheckpoint(
        decisions=tuple(CheckpointDecision(summary=decision_of(each).summary, turn=each["turn"]) for each in decisions)
    )


def lineage(case_input):
    artifact = artifact_of(case_input["artifact"])
    records = [record_of(each) for each in case_input["turnRecords"]]
    own = case_input["turnRecord"]
    if own is not None:
        records = [record_of(own), *(each for each in records if each.turn != own["turn"])]
    digest = case_input["turnDigest"]
    found = trace_lineage(
        artifact,
        [artifact_of(each) for each in case_input["sessionArtifacts"]],
        records,
        digest=digest_of(digest) if digest else None,
        checkpoint=checkpoint_of(case_input["checkpoint"]),
    )
    told = present(
        {
            "artifactId": found.artifact_id,
            "sourceTool": found.source_tool,
            "command": found.command,
            "contentType": found.content_type,
            "producedTurn": found.produced_turn,
            "producedBy": found.produced_by,
            "relatedDecisions": list(found.decisions),
            "relatedArtifacts": [{"id": each.id, "label": each.label, "turn": each.turn} for each in found.artifacts],
            "relatedFiles": list(found.files),
        }
    )
    return {"lineage": told, "text": render_lineage(found)}


OPERATIONS = {
    "store": store,
    "ledgerSearch": ledger_search,
    "ledgerAppendTwice": append_twice,
    "groupEvents": grouped,
    "lineage": lineage,
}


def compare(actual, expected):
    """The whole answer; of a card that the oracle gives by its first and last line, these."""
    if isinstance(expected, list) and any(isinstance(each, dict) and "card" in each for each in expected):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            compare_step(one, other)
    else:
        assert_equal(actual, expected)


def compare_step(actual, expected):
    if not (isinstance(expected, dict) and "card" in expected):
        assert_equal(actual, expected)
        return
    first, last = expected["card"]
    assert actual["promptText"].startswith(first + "\n")
    assert actual["promptText"].endswith("\n" + last)
    assert_equal(
        {key: actual[key] for key in expected if key != "card"}, {k: v for k, v in expected.items() if k != "card"}
    )


# -- where the right answer differs ------------------------------------------------------------------------------------


def carried(text):
    """What an envelope carries: stdout, then stderr, then its exit code."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if not isinstance(value, dict) or "ok" not in value or not {"stdout", "stderr", "content", "error"} & value.keys():
        return text
    if value.keys() - {"ok", "stdout", "stderr", "content", "error", "exitCode", "command"}:
        return text
    parts = [value[name] for name in ("stdout", "stderr", "content", "error") if value.get(name)]
    return "\n".join([*parts, *([f"exit code {value['exitCode']}"] if value.get("exitCode") else [])])


def stores_otherwise(case_input):
    if case_input["op"] != "store":
        return False
    taken = [step["input"] for step in case_input["steps"] if step["do"] == "ingest"]
    read = {}
    for given in taken:
        if given["sourceTool"] == "read_file" and estimate_tokens(given["rawText"]) > 400:
            read.setdefault(given.get("command"), set()).add(given["rawText"])
    return (
        any(len(texts) > 1 for texts in read.values())
        or any(given.get("contentType") in {"log", "test_output", "build_output"} for given in taken)
        or any(carried(given["rawText"]) != given["rawText"] for given in taken)
    )


def stored_by_content(case_input):
    """A shelf as a plain dict by hash, without distilling: cards by their first and last line."""
    limit = engine_of(case_input["config"]).artifact_inline_threshold
    shelf, ids, results = {}, [], []
    for step in case_input["steps"]:
        results.append(stored(step, shelf, ids, limit))
        ids.append(results[-1].get("artifactId") if isinstance(results[-1], dict) else None)
    return results


def stored(step, shelf, ids, limit):
    if step["do"] == "count":
        return len(shelf)
    if step["do"] == "high":
        found = [(key, each["uses"]) for key, each in reversed(shelf.items()) if each["uses"] >= step["min"]]
        return [key for key, _ in sorted(found, key=lambda pair: -pair[1])]
    if step["do"] == "retrieve":
        kept = shelf[ids[step["ref"]]]
        kept["uses"], kept["last"] = kept["uses"] + 1, step["turn"]
        assert not step.get("options"), "the oracle opens artifacts whole"
        return {"ok": True, "content": kept["text"]}
    assert step["do"] == "ingest", step
    given = step["input"]
    text = carried(given["rawText"])
    tokens = estimate_tokens(text)
    if tokens <= limit:
        return {"promptText": given["rawText"], "inlined": True}
    key = "art_" + content_hash(text)[:12]
    again = key in shelf
    kept = shelf.setdefault(
        key, {"text": text, "tool": given["sourceTool"], "command": given.get("command"), "uses": 0}
    )
    kept["uses"], kept["last"] = kept["uses"] + again, given["createdTurn"]
    about = f"{kept['tool']}: {kept['command']}" if kept["command"] else kept["tool"]
    return {
        "card": (f"[artifact: {key} | {about} | {tokens:,} tokens raw]", f'Retrieve: retrieve_artifact("{key}")'),
        "artifactId": key,
        "inlined": False,
        "rawTokens": tokens,
        "accessCount": kept["uses"],
        "lastAccessedTurn": kept["last"],
    }
