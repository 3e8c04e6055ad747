"""The peer's records in our words."""

from __future__ import annotations

from datetime import UTC, datetime

from workbench.context.records import ActivityEntry, Decision, OpenError, ToolCallRecord, TurnDigest, TurnRecord


def time_of(milliseconds):
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)


def call_of(given):
    return ToolCallRecord(
        tool=given["tool"],
        args=given.get("args", {}),
        is_error=given.get("isError", False),
        result_text=given.get("resultText"),
        artifact_id=given.get("resultArtifactId"),
    )


def record_of(given):
    return TurnRecord(
        turn=given["turn"],
        user_message=given["userMessage"],
        assistant_message=given.get("assistantMessage", ""),
        tool_calls=tuple(call_of(call) for call in given.get("toolCalls", ())),
        artifact_ids=tuple(given.get("artifactIds", ())),
        files_read=tuple(given.get("filesRead", ())),
        files_written=tuple(given.get("filesWritten", ())),
        errors=tuple(given.get("errors", ())),
        token_count=given.get("tokenCount", 0),
        occurred_at=time_of(given.get("timestamp", 0)),
    )


def activity_of(given):
    return ActivityEntry(
        turn=given["turn"], type=given["type"], summary=given["summary"], artifact_ref=given.get("artifactRef")
    )


def error_of(given):
    return OpenError(
        key=given["key"],
        message=given["message"],
        turn=given["turn"],
        tool=given["tool"],
        command=given.get("command"),
    )


def decision_of(given):
    """Older rows hold a decision as a plain text."""
    if isinstance(given, str):
        return Decision(summary=given)
    return Decision(summary=given["summary"], rationale=given.get("rationale"))


def digest_of(given):
    return TurnDigest(
        turn=given["turnId"],
        user_intent=given.get("userIntent", ""),
        files_changed=tuple(given.get("filesChanged", ())),
        files_written=tuple(given.get("filesWritten", ())),
        artifact_refs=tuple(given.get("artifactRefs", ())),
        decisions=tuple(map(decision_of, given.get("decisions", ()))),
        constraints=tuple(given.get("constraints", ())),
        errors_new=tuple(given.get("errorsNew", ())),
        errors_fixed=tuple(given.get("errorsFixed", ())),
        tool_summary=given.get("toolSummary", "no tools"),
        extracted_plan=given.get("extractedPlan"),
    )


def present(shown):
    """As the peer writes it: an optional field that is not there is left out."""
    return {name: value for name, value in shown.items() if value is not None}


def peer_decision(decision):
    return present({"summary": decision.summary, "rationale": decision.rationale})


def peer_digest(digest):
    return present(
        {
            "turnId": digest.turn,
            "userIntent": digest.user_intent,
            "filesChanged": list(digest.files_changed),
            "filesWritten": list(digest.files_written),
            "artifactRefs": list(digest.artifact_refs),
            "decisions": [peer_decision(decision) for decision in digest.decisions],
            "constraints": list(digest.constraints),
            "errorsNew": list(digest.errors_new),
            "errorsFixed": list(digest.errors_fixed),
            "toolSummary": digest.tool_summary,
            "extractedPlan": digest.extracted_plan,
        }
    )


def peer_activity(entry):
    return present(
        {"turn": entry.turn, "type": entry.type, "summary": entry.summary, "artifactRef": entry.artifact_ref}
    )


def peer_error(error):
    return present(
        {
            "key": error.key,
            "message": error.message,
            "turn": error.turn,
            "tool": error.tool,
            "command": error.command,
        }
    )


def peer_call(call):
    return present(
        {
            "tool": call.tool,
            "args": call.args,
            "resultArtifactId": call.artifact_id,
            "isError": call.is_error,
            "resultText": call.result_text,
        }
    )
