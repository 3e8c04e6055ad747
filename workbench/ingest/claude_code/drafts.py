"""Parts of a record to drafts of events: what was said, blocks, results, usage, notes. Pure."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from workbench.ingest.claude_code import wire
from workbench.ingest.claude_code.typed import typed_by_person
from workbench.ingest.claude_code.wire import Block, WireRecord
from workbench.ingest.records import Draft

Drafts = list[Draft]

KNOWN_TYPES: Final = frozenset(
    (
        "user",
        "assistant",
        "progress",
        "system",
        "summary",
        "file-history-snapshot",
        "queue-operation",
        "permission-mode",
        "last-prompt",
        "pr-link",
        "attachment",
        "custom-title",
        "ai-title",
        "agent-name",
        "agent-color",
        "tag",
        "mode",
        "worktree-state",
        "content-replacement",
    )
)
"""Records of all other types are kept as they are and counted."""

PICTURES: Final = ("image", "document")
"""Blocks whose bytes stay in the archive; of a message they are counted."""

_ENVELOPE: Final = frozenset(
    (
        "parentUuid",
        "logicalParentUuid",
        "isSidechain",
        "userType",
        "cwd",
        "sessionId",
        "version",
        "gitBranch",
        "type",
        "uuid",
        "timestamp",
        "slug",
        "entrypoint",
    )
)
_REJECTED: Final = ("The user doesn't want to ", "[Request interrupted by user", "User rejected ")


def drafts_of(found: WireRecord, line: bytes) -> Drafts:
    """The events of a record: a function of the record alone, so that every copy of it says the same.

    Args:
        found: The record; a sub-agent's message is taken out of the progress record it came in.
        line: Its bytes, for the types that are kept whole.
    """
    if found.type == "user":
        return _user(found)
    if found.type == "assistant":
        return _assistant(found)
    if found.type == "attachment":
        return _attachment(found, _body(line, found.type))
    kind, payload = _note(found, line)
    return [Draft(kind, "kernel", payload, found.agentId, bool(found.isSidechain))]


def _note(found: WireRecord, line: bytes) -> tuple[str, dict[str, Any]]:
    """Kind and payload of what the harness writes for itself or for the eye."""
    if found.type not in KNOWN_TYPES:
        return "unknown", {"record": wire.value_of(line)}
    told = _body(line, found.type)
    if found.type == "progress":
        return "ui_transcript", told
    if found.type == "system" and found.subtype in ("compact_boundary", "microcompact_boundary"):
        about = told.get("compactMetadata") or told.get("microcompactMetadata")
        about = about if isinstance(about, dict) else {}
        kind = "boundary" if found.subtype == "compact_boundary" else "micro"
        return "compaction", {"type": kind, "trigger": about.get("trigger"), "pre_tokens": about.get("preTokens")}
    return "system_note", told


def _user(found: WireRecord) -> Drafts:
    content = found.message.content if found.message else None
    agent_id, sidechain = found.agentId, bool(found.isSidechain)
    if isinstance(content, str):
        return _said(found, [content], 0)
    blocks = content or []
    results = [block for block in blocks if block.type == "tool_result"]
    others = [block for block in blocks if block.type != "tool_result"]
    texts = [block.text for block in others if block.type == "text" and block.text is not None]
    images = sum([block.type in PICTURES for block in others])
    detail = found.toolUseResult if len(results) == 1 and isinstance(found.toolUseResult, wire.ToolDetail) else None
    drafts = [_result(block, detail, agent_id, sidechain) for block in results]
    return drafts + _said(found, texts, images) if texts or images else drafts


def _assistant(found: WireRecord) -> Drafts:
    message = found.message or wire.Message()
    agent_id, sidechain = found.agentId, bool(found.isSidechain)
    about: dict[str, Any] = {"message_id": message.id, "request_id": found.requestId, "model": message.model}
    if found.isApiErrorMessage:
        about["is_error"] = True
    blocks = message.content or []
    if isinstance(blocks, str):
        blocks = [Block(type="text", text=blocks)]
    said = [_block(block) for block in blocks] or [("agent_message", {"text": ""})]
    if message.usage is not None:
        said.append(("usage", _usage(message.usage)))
    drafts = []
    for kind, payload in said:
        payload.update(about)
        drafts.append(Draft(kind, "kernel" if kind == "usage" else "agent", payload, agent_id, sidechain))
    return drafts


def _said(found: WireRecord, texts: list[str], images: int) -> Drafts:
    """The events of what a `user` record says: a prompt, or notes of the harness."""
    agent_id, sidechain = found.agentId, bool(found.isSidechain)
    whole = "\n\n".join(texts)
    if found.isCompactSummary:
        return [Draft("compaction", "kernel", {"type": "summary", "summary": whole}, agent_id, sidechain)]
    if found.isMeta:
        return [Draft("system_note", "kernel", {"type": "meta", "text": whole}, agent_id, sidechain)]
    if sidechain:
        return [Draft("user_message", "agent", _prompt(whole, images), agent_id, sidechain)]
    drafts: Drafts = []
    words = []
    for typed in map(typed_by_person, texts):
        if typed.note is None:
            words.append(typed.text)
        else:
            actor = "user" if typed.note in ("turn_interrupted", "bash-input", "command-name") else "kernel"
            drafts.append(Draft("system_note", actor, {"type": typed.note, "text": typed.text}, agent_id, sidechain))
    text = "\n\n".join(word for word in words if word)
    if text or images:
        drafts.append(Draft("user_message", "user", _prompt(text, images), agent_id, sidechain))
    return drafts


def _prompt(text: str, images: int) -> dict[str, Any]:
    return {"text": text, "images": images} if images else {"text": text}


def _attachment(found: WireRecord, body: dict[str, Any]) -> Drafts:
    """A prompt typed while the agent worked comes as an attachment; all other attachments are the harness's."""
    inner = body.get("attachment")
    inner = inner if isinstance(inner, dict) else {}
    if inner.get("type") == "queued_command":
        prompt = inner.get("prompt")
        blocks = prompt if isinstance(prompt, list) else [{"type": "text", "text": prompt}]
        dicts = [block for block in blocks if isinstance(block, dict)]
        texts = [block["text"] for block in dicts if isinstance(block.get("text"), str)]
        images = sum(block.get("type") in PICTURES for block in dicts)
        if texts or images:
            return _said(found, texts, images)
    payload = {**inner, "type": "attachment", "attachment_type": inner.get("type")}
    return [Draft("system_note", "kernel", payload, found.agentId, bool(found.isSidechain))]


def _block(block: Block) -> tuple[str, dict[str, Any]]:
    """Kind and payload of one block of a response."""
    if block.type == "tool_use":
        return "tool_call", {
            "tool": block.name or "",
            "args": wire.value_of(block.input) if block.input is not wire.NOTHING else {},
            "tool_call_id": block.id,
        }
    if block.type in ("thinking", "redacted_thinking"):
        return "agent_message", {"thinking": block.thinking or ""}
    if block.type == "text":
        return "agent_message", {"text": block.text or ""}
    return "agent_message", {"text": block.text or "", "block_type": block.type}


def _result(block: Block, detail: wire.ToolDetail | None, agent_id: str | None, sidechain: bool) -> Draft:
    """What a tool gave back; `rejected` where the person refused the call."""
    text, images = _result_text(block.content)
    payload: dict[str, Any] = {"tool_call_id": block.tool_use_id, "result": text, "is_error": bool(block.is_error)}
    if images:
        payload["images"] = images
    if block.is_error and text.startswith(_REJECTED):
        payload["rejected"] = True
    if detail is not None:
        payload.update(_detail(detail))
    return Draft("tool_result", "tool", payload, agent_id, sidechain)


def _detail(detail: wire.ToolDetail) -> dict[str, Any]:
    """What there is of it: for most results nothing."""
    told = {
        "subagent_id": detail.agentId,
        "duration_ms": detail.totalDurationMs,
        "total_tokens": detail.totalTokens,
        "interrupted": detail.interrupted or None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _result_text(content: msgspec.Raw) -> tuple[str, int]:
    """A result as text; a picture is named by its type and size, its bytes stay in the archive."""
    if content is wire.NOTHING:
        return "", 0
    value = wire.value_of(content)
    if isinstance(value, str):
        return value, 0
    if not isinstance(value, list):
        return ("" if value is None else msgspec.json.encode(value).decode()), 0
    parts: list[str] = []
    images = 0
    for item in value:
        if isinstance(item, str):
            parts.append(item)
        elif isinstance(item, dict) and isinstance(item.get("text"), str):
            parts.append(item["text"])
        elif isinstance(item, dict) and item.get("type") in PICTURES:
            images += 1
            parts.append(_picture(item))
        else:
            parts.append(msgspec.json.encode(item).decode())
    return "\n".join(parts), images


def _picture(item: dict[str, Any]) -> str:
    source = item.get("source")
    source = source if isinstance(source, dict) else {}
    return f"[{source.get('media_type') or 'picture'}, {len(str(source.get('data') or '')):,} characters of base64]"


def _usage(usage: wire.Usage) -> dict[str, Any]:
    """Tokens of a model call under our names; the whole of the cache writes and, where told, its one-hour part."""
    split = usage.cache_creation
    parts = None if split is None else (split.ephemeral_5m_input_tokens or 0, split.ephemeral_1h_input_tokens or 0)
    written = usage.cache_creation_input_tokens
    if written is None and parts is not None:
        written = sum(parts)
    payload = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_input_tokens,
        "cache_write_tokens": written,
    }
    if parts is not None:
        payload["cache_write_1h_tokens"] = parts[1]
    return payload


def _body(line: bytes, kind: str | None) -> dict[str, Any]:
    """A record without its envelope; `type` is the subtype where there is one."""
    record = wire.value_of(line)
    body = {name: value for name, value in record.items() if name not in _ENVELOPE}
    data = body.pop("data", None)
    if isinstance(data, dict):
        body.update({name: value for name, value in data.items() if name != "type"})
        kind = data.get("type") or kind
    elif data is not None:
        body["data"] = data
    subtype = body.pop("subtype", None)
    return {"type": subtype or kind, **body}


def excerpt(line: bytes, length: int = 80) -> str:
    """The beginning of a line, fit to be shown."""
    text = line[: length * 4].decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:length]) + (
        "…" if len(text) > length else ""
    )
