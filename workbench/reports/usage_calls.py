"""Model calls as sessions tell of them, and each of them once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

    from workbench.store.lake import Lake

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class ToldCall(NamedTuple):
    """A model call as one session tells of it: columns of `usage`."""

    session_id: str
    call_id: str
    message_id: str | None
    request_id: str | None
    occurred_us: int | None
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cache_write_1h_tokens: int | None
    reasoning_tokens: int | None

    @property
    def tokens(self) -> tuple[int | None, ...]:
        """The counters, in the order of their columns."""
        return self[6:]


def told_calls(lake: Lake) -> list[ToldCall]:
    """What every session tells of, copies included.

    Read by pyarrow, which is loaded anyway: DuckDB takes longer to start than the whole question does.
    """
    names = ["occurred_at" if name == "occurred_us" else name for name in ToldCall._fields]
    rows = lake.derived_rows("usage", names)
    columns = (rows[name].cast("int64") if name == "occurred_at" else rows[name] for name in names)
    return list(map(ToldCall._make, zip(*map(_values, columns), strict=True)))


def _values(column: pa.ChunkedArray[Any]) -> list[Any]:
    """The values of a column; by way of numpy, five times as fast, where that keeps them as they are."""
    if column.null_count == len(column):
        return [None] * len(column)
    if column.null_count and column.type == "int64":
        return column.to_pylist()  # numpy has no integer that is null
    values: list[Any] = column.to_numpy().tolist()
    return values


def each_call_once(calls: Iterable[ToldCall], started_at: Mapping[str, datetime | None]) -> list[ToldCall]:
    """Every call once, however many sessions tell of it.

    Message id and request id name a call. A message id without a request id names it inside its session only, since a
    relay may write one constant id for all its calls; another session's row is the same call if time, model and figures
    agree too, as in a copied file. A row without a message id is a call of its own.

    Args:
        calls: What the sessions tell, in any order.
        started_at: When each session began.

    Returns:
        The calls, as told where the output is largest; they belong to the session that began first, and happened when
        that one says. Ties go to the smaller session id.
    """
    found: dict[tuple[object, ...], ToldCall] = {}
    again: defaultdict[tuple[object, ...], list[ToldCall]] = defaultdict(list)
    for call in calls:
        key = _identity(call)
        if found.setdefault(key, call) is not call:
            again[key].append(call)

    def age(call: ToldCall) -> tuple[bool, datetime, str]:
        began = started_at.get(call.session_id)
        return (began is None, began or EPOCH, call.session_id)

    merged = {key: _merged(sorted([found[key], *others], key=age)) for key, others in again.items()}
    return list((found | merged).values())


def _identity(call: ToldCall) -> tuple[object, ...]:
    if call.message_id is not None and call.request_id is not None:
        return (call.message_id, call.request_id)
    if call.message_id is None or call.occurred_us is None:
        return (call.session_id, call.call_id, None)
    return call[2:10]


def _merged(told: list[ToldCall]) -> ToldCall:
    """One call of several tellings, that of the oldest session first."""
    fullest = max(told, key=lambda call: -1 if call.output_tokens is None else call.output_tokens)
    times = (call.occurred_us for call in told if call.occurred_us is not None)
    return fullest._replace(session_id=told[0].session_id, occurred_us=next(times, None))
