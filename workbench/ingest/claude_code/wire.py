"""The shape of Claude Code's records, and how a record of an odder shape is still read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast, get_args

import msgspec

from workbench.ingest.jsonlines import decode_tolerant

NOTHING: Final = msgspec.Raw(b"")
"""The value of a raw field that a record does not have."""


class CacheCreation(msgspec.Struct, gc=False):
    """Cache writes by lifetime."""

    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class Usage(msgspec.Struct, gc=False):
    """Tokens of one model call; the four counters do not overlap."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation: CacheCreation | None = None


class Block(msgspec.Struct, gc=False):
    """One content block of a message."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = NOTHING
    tool_use_id: str | None = None
    content: msgspec.Raw = NOTHING
    is_error: bool | None = None


class Message(msgspec.Struct, gc=False):
    """A message as the provider's API has it; one response stands on several lines, a block each."""

    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    usage: Usage | None = None


class ToolDetail(msgspec.Struct, gc=False):
    """What the harness says of a result besides its text, which it repeats there at length."""

    agentId: str | None = None  # noqa: N815
    totalDurationMs: int | float | None = None  # noqa: N815
    totalTokens: int | float | None = None  # noqa: N815
    interrupted: bool | None = None


class WireRecord(msgspec.Struct, gc=False):
    """One line."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None  # noqa: N815  (their names)
    sessionId: str | None = None  # noqa: N815
    timestamp: str | None = None
    cwd: str | None = None
    gitBranch: str | None = None  # noqa: N815
    version: str | None = None
    requestId: str | None = None  # noqa: N815
    agentId: str | None = None  # noqa: N815
    isSidechain: bool | None = None  # noqa: N815
    isMeta: bool | None = None  # noqa: N815
    isCompactSummary: bool | None = None  # noqa: N815
    isApiErrorMessage: bool | None = None  # noqa: N815
    message: Message | None = None
    data: msgspec.Raw = NOTHING
    attachment: msgspec.Raw = NOTHING
    toolUseResult: ToolDetail | str | list[Any] | None = None  # noqa: N815


class Progress(msgspec.Struct, gc=False):
    """The `data` of a progress record; only a sub-agent's carries a message."""

    type: str | None = None
    agentId: str | None = None  # noqa: N815
    prompt: str | None = None
    message: WireRecord | None = None


_decode_record = msgspec.json.Decoder(WireRecord).decode
_decode_progress = msgspec.json.Decoder(Progress).decode
_decode_any: Final[Callable[[bytes | msgspec.Raw], Any]] = msgspec.json.Decoder().decode
_REFUSALS: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def value_of(raw: bytes | msgspec.Raw) -> Any:
    """A line or a raw part of one as plain JSON values.

    A raw part was only skipped over when its record was decoded, so that it can hold what a strict decoder refuses.

    Raises:
        ValueError: It is not JSON, or nested too deeply to be read.
    """
    try:
        return _decode_any(raw)
    except _REFUSALS:
        return decode_tolerant(bytes(raw))


def record(line: bytes) -> tuple[WireRecord, list[str]]:
    """Read one line.

    Args:
        line: Bytes without LF.

    Returns:
        The record, and the names of fields whose type was not the usual one and that were left out.

    Raises:
        ValueError: It is not JSON.
        TypeError: It is JSON, but no object.
    """
    try:
        return _decode_record(line), []
    except _REFUSALS:
        value = decode_tolerant(line)
    if not isinstance(value, dict):
        raise TypeError(f"a JSON {type(value).__name__} where an object was expected")
    found, odd = _loosely(value, WireRecord)
    return cast("WireRecord", found), odd


def progress(data: msgspec.Raw) -> tuple[Progress, list[str]]:
    """Read the `data` of a progress record, whatever its shape; also the names of odd fields."""
    if data is NOTHING:
        return Progress(), []
    try:
        return _decode_progress(data), []
    except _REFUSALS:
        value = value_of(data)
    if not isinstance(value, dict):
        return Progress(), []
    found, odd = _loosely(value, Progress)
    return cast("Progress", found), odd


def _loosely(value: dict[str, Any], kind: type[msgspec.Struct]) -> tuple[msgspec.Struct, list[str]]:
    """Build a struct from the fields that fit; names of those that do not come back too."""
    fitting: dict[str, Any] = {}
    odd: list[str] = []
    for field in msgspec.structs.fields(kind):
        if field.name not in value:
            continue
        try:
            fitting[field.name], more = _loose_field(value[field.name], field.type)
            odd += [f"{field.name}.{name}" for name in more]
        except (msgspec.ValidationError, TypeError, RecursionError, OverflowError):
            odd.append(field.name)
    return kind(**fitting), odd


def _loose_field(value: Any, kind: Any) -> tuple[Any, list[str]]:
    if kind is msgspec.Raw:
        return msgspec.Raw(msgspec.json.encode(value)), []
    parts = get_args(kind)
    inner = next((part for part in parts if isinstance(part, type) and issubclass(part, msgspec.Struct)), None)
    if inner is not None and isinstance(value, dict):
        return _loosely(value, inner)
    if list[Block] in parts and isinstance(value, list):
        pairs = [_loose_block(item) for item in value]
        return [block for block, _ in pairs], [name for _, names in pairs for name in names]
    return msgspec.convert(value, kind), []


def _loose_block(item: Any) -> tuple[Block, list[str]]:
    if isinstance(item, dict):
        block, odd = _loosely(item, Block)
        return cast("Block", block), odd
    return Block(type="text", text=item if isinstance(item, str) else msgspec.json.encode(item).decode()), []
