"""Errors, activity, and an exchange written down."""

from __future__ import annotations

import json

from workbench.config.context import Digest
from workbench.context.activity import activity_of as entries_of
from workbench.context.activity import rolling
from workbench.context.error_tracker import Errors, track_errors
from workbench.context.ledger import search_text
from workbench.context.recorder import Call, paths_of, record_turn, tool_error

from ._praana_context_records import activity_of, digest_of, peer_activity, peer_call, peer_error, present, record_of

ERROR_CHARS = Digest().error_chars


def run(case_input):
    return OPERATIONS[case_input["op"]](case_input)


def errors(case_input):
    state, rows = Errors(), []
    for record in map(record_of, case_input["records"]):
        news = track_errors(state, record, ERROR_CHARS)
        state = news.errors
        rows.append(
            {
                "errorsNew": list(news.new),
                "errorsFixed": list(news.fixed),
                "openErrors": [peer_error(error) for error in state.open],
                "testFailed": state.test_failed,
            }
        )
    return rows


def activity(case_input):
    record = record_of({**case_input["record"], "turn": case_input["turn"]})
    made = entries_of(record, digest_of(case_input["digest"]), test_was_failing=case_input["testWasFailing"])
    return [peer_activity(entry) for entry in made]


def activity_log(case_input):
    def entries(names):
        return [activity_of({"turn": 0, "type": "commit", "summary": name}) for name in names]

    kept = rolling(entries(case_input["initial"]), (), case_input["max"])
    for names in case_input["append"]:
        kept = rolling(kept, entries(names), case_input["max"])
    return [entry.summary for entry in kept]


def file_paths(case_input):
    found = paths_of(case_input["tool"], case_input["args"])
    return {name: paths[0] for name, paths in found.items() if paths}


def recorder(case_input):
    calls = [
        Call(tool=c["tool"], args=c["args"], result=c["result"], is_error=c["isError"], artifact_id=c.get("artifactId"))
        for c in case_input["calls"]
    ]
    record = record_turn(
        case_input["turn"], case_input["userMessage"], calls, case_input["assistant"], token_count=case_input["tokens"]
    )
    return {
        "record": {
            "turn": record.turn,
            "userMessage": record.user_message,
            "assistantMessage": record.assistant_message,
            "toolCalls": [peer_call(call) for call in record.tool_calls],
            "artifactIds": list(record.artifact_ids),
            "filesRead": list(record.files_read),
            "filesWritten": list(record.files_written),
            "errors": list(record.errors),
            "tokenCount": record.token_count,
        },
        "searchText": search_text(record),
    }


OPERATIONS = {
    "errorTracker": errors,
    "activity": activity,
    "activityLog": activity_log,
    "toolError": lambda case_input: tool_error(case_input["result"], is_error=case_input["isError"]),
    "filePaths": file_paths,
    "recorder": recorder,
}


# -- where the right answer differs ------------------------------------------------------------------------------------


def several_calls_meet_errors(case_input):
    """Some exchange with errors has more than one call: the original blames all of them for the first error."""
    records = case_input.get("records", ())
    return case_input["op"] == "errorTracker" and any(r["errors"] and len(r["toolCalls"]) > 1 for r in records)


def call_by_call(case_input):
    """Each failed call has the next message of its exchange, and each call that went well closes its own error."""
    rows, still, failed = [], {}, False
    for record in case_input["records"]:
        messages, new, fixed = list(record["errors"]), [], []
        for call in record["toolCalls"]:
            command = call["args"].get("command")
            key = f"{call['tool']}:{command or call['args'].get('path') or json.dumps(call['args'])}"
            tested = command and any(
                word in command for word in ("pytest", "npm test", "go test", "cargo test", "vitest")
            )
            if call["isError"]:
                new.append(messages.pop(0) if messages else (call.get("resultText") or "tool error")[:200])
                error = {
                    "key": key,
                    "message": new[-1],
                    "turn": record["turn"],
                    "tool": call["tool"],
                    "command": command,
                }
                still.setdefault(key, present(error))
            elif still.pop(key, None):
                fixed.append(command or call["tool"])
            failed = call["isError"] if tested else failed
        new += [message for message in messages if message not in new]
        rows.append({"errorsNew": new, "errorsFixed": fixed, "openErrors": list(still.values()), "testFailed": failed})
    return rows


def says_it_failed(case_input):
    result = case_input.get("result")
    return (
        case_input["op"] == "toolError"
        and not case_input["isError"]
        and isinstance(result, dict)
        and result.get("ok") is False
        and bool(result.get("stderr") or result.get("stdout"))
        and not result.get("error")
    )


def end_of_what_it_wrote(case_input):
    result = case_input["result"]
    return "\n".join((result.get("stderr") or result["stdout"]).strip().splitlines()[-3:])


def is_a_batch(case_input):
    return case_input["op"] == "filePaths" and case_input["tool"].startswith("batch_")


def first_of_the_batch(case_input):
    entries = case_input["args"].get({"batch_write": "files", "batch_edit": "edits"}[case_input["tool"]], ())
    paths = [entry["path"] for entry in entries if "path" in entry]
    return {"written": paths[0]} if paths else {}


def records_a_failure(case_input):
    return case_input["op"] == "recorder" and any(
        isinstance(call["result"], dict) and call["result"].get("ok") is False for call in case_input["calls"]
    )


def recorded_as_failed(case_input):
    """What the original writes down, with each call that says `ok: false` as an error and its own words as message."""
    calls, read, written, messages, ids = [], [], [], [], []
    for call in case_input["calls"]:
        result = call["result"]
        bad = call["isError"] or (isinstance(result, dict) and result.get("ok") is False)
        if bad:
            said = result.get("error") if isinstance(result, dict) else None
            wrote = isinstance(result, dict) and (result.get("stderr") or result.get("stdout"))
            fallback = "tool error" if call["isError"] else "tool failed"
            tail = "\n".join(wrote.strip().splitlines()[-3:]) if wrote and not call["isError"] else ""
            messages.append(said or tail or fallback)
        text = result if isinstance(result, str) else json.dumps(result, separators=(",", ":"), ensure_ascii=False)
        text = text if len(text) <= 400 else text[:400] + "…"
        calls.append(
            present(
                {
                    "tool": call["tool"],
                    "args": call["args"],
                    "resultArtifactId": call.get("artifactId"),
                    "isError": bad,
                    "resultText": text,
                }
            )
        )
        path = call["args"].get("path")
        read += [path] if path and call["tool"] in ("read_file", "read_and_summarize") else []
        written += [path] if path and call["tool"] in ("write_file", "edit_file") else []
        ids += [call["artifactId"]] if call.get("artifactId") else []
    read, written, ids = (list(dict.fromkeys(values)) for values in (read, written, ids))
    texts = [f"{c['tool']} {json.dumps(c['args'], separators=(',', ':'))}" for c in case_input["calls"]]
    told = [case_input["userMessage"], case_input["assistant"], *messages, *read, *written, *ids, *texts]
    return {
        "record": {
            "turn": case_input["turn"],
            "userMessage": case_input["userMessage"],
            "assistantMessage": case_input["assistant"],
            "toolCalls": calls,
            "artifactIds": ids,
            "filesRead": read,
            "filesWritten": written,
            "errors": messages,
            "tokenCount": case_input["tokens"],
        },
        "searchText": "\n".join(text for text in told if text),
    }
