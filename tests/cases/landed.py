"""What a case expects of a home, key by key, answered from its views.

A key is one of the methods of `Landed` below, else a column of `sessions` (added up over the sessions that are meant,
or the one value they share), else a table (its rows are counted), else a kind of event (counted too). Anything else
fails the case: an expectation that nobody checks must not pass.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from workbench.events import KINDS
from workbench.store.tables import TABLES

if TYPE_CHECKING:
    import duckdb

    from workbench.bench import Workbench

PROSE = frozenset({"why", "judgement", "note", "trap"})
"""Keys that explain and expect nothing."""

TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
CALL_COLUMNS = {"id": "tool_call_id", "name": "tool"}
"""Names that cases give to columns of `tool_calls`; other names are the columns' own."""


class UnknownKeyError(AssertionError):
    """The case expects something that no rule here can look up."""


class Landed:
    """Answers of one home, or of one session in it.

    Args:
        connection: The views of the home, all of one moment.
        session_id: The session that is meant; all of them unless given.
        words: What the case searches for.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, session_id: str | None = None, *, words: str = ""
    ) -> None:
        self._connection = connection
        self._session_id = session_id
        self._words = words

    @classmethod
    def now(cls, bench: Workbench, *, words: str = "") -> Landed:
        """All that a home shows now."""
        return cls(bench._lake.connection(), words=words)

    def session(self, session_id: str) -> Landed:
        """What it shows of one session."""
        return Landed(self._connection, session_id, words=self._words)

    def check(self, expected: dict[str, Any]) -> None:
        """Compare every key; all that differ are told at once."""
        wrong = {}
        for key, value in expected.items():
            if key in PROSE:
                continue
            found = self.answer(key, value)
            if found != value:
                wrong[key] = f"expected {value!r}, found {found!r}"
        assert not wrong, "\n".join(f"{self._session_id or 'home'}.{key}: {what}" for key, what in wrong.items())

    def answer(self, key: str, expected: Any) -> Any:
        """What the home says to a key, in the form in which the case expects it.

        Raises:
            UnknownKeyError: No rule fits the key, or the form.
        """
        rule = getattr(self, f"_key_{key}", None)
        if rule is not None:
            return rule(expected)
        if key.startswith("tool_input_"):
            return self._tool_input(key.removeprefix("tool_input_"))
        if key in TOKENS and type(expected) is int:
            return sum(call[key] or 0 for call in self._calls())
        if key in TABLES["sessions"].schema.names:
            return self._session_column(key, expected)
        if type(expected) is int and key in TABLES:
            return self._count(key)
        if type(expected) is int and key in KINDS:
            return self._count("events", f"kind = '{key}'")
        raise UnknownKeyError(f"no rule looks up {key!r} (expected {expected!r})")

    def events(self, columns: str) -> list[tuple[Any, ...]]:
        """Some columns of the events, in order."""
        return self._rows(f"select {columns} from events where {{mine}} order by session_id, seq")

    # -- the sessions themselves -----------------------------------------------------------------------------------

    def _key_sessions(self, expected: Any) -> Any:
        ids = self._values("select session_id from sessions where {mine} order by session_id")
        if isinstance(expected, dict):
            for session_id, inner in expected.items():
                self.session(session_id).check(inner)
            return expected if sorted(expected) == ids else ids
        return sorted(ids, key=expected.index) if _same(ids, expected) else _counted(ids, expected)

    def _key_totals(self, expected: dict[str, Any]) -> dict[str, Any]:
        self.check(expected)
        return expected

    def _key_cwd(self, expected: Any) -> Any:
        return self._session_column("cwd", expected)

    def _key_projects(self, expected: Any) -> Any:
        found = self._values("select distinct project_id from sessions where {mine} and project_id is not null")
        return _counted(found, expected)

    def _key_same_project(self, expected: list[list[str]]) -> list[list[str]]:
        return [group for group in expected if len(self._projects(group)) == 1]

    def _key_different_project(self, expected: list[list[str]]) -> list[list[str]]:
        return [group for group in expected if len(self._projects(group)) == len(group)]

    def _projects(self, session_ids: list[str]) -> set[str]:
        known = dict(self._rows("select session_id, project_id from sessions where {mine}"))
        return {known[session_id] for session_id in session_ids}

    def _session_column(self, column: str, expected: Any) -> Any:
        if isinstance(expected, dict):
            return dict(self._rows(f"select session_id, {column} from sessions where {{mine}}"))
        kind = TABLES["sessions"].schema.field(column).type
        values = self._values(f"select {column} from sessions where {{mine}} order by session_id")
        if type(expected) is int and str(kind) == "int64":
            return sum(value or 0 for value in values)
        assert len(values) == 1 or len(set(map(str, values))) == 1, f"{column} differs between sessions: {values}"
        value = values[0]
        if isinstance(value, datetime) and isinstance(expected, str):
            wanted = datetime.fromisoformat(expected)
            return expected if value == wanted.replace(tzinfo=wanted.tzinfo or UTC) else value
        return value

    # -- what was said ---------------------------------------------------------------------------------------------

    def _key_prompts(self, expected: Any) -> Any:
        return _counted(self._texts("role = 'user' and not is_sidechain"), expected)

    def _key_prompts_count(self, expected: int) -> Any:
        return self._key_prompts(expected)

    def _key_responses(self, expected: Any) -> Any:
        return _counted(self._texts("role = 'assistant' and not is_sidechain"), expected)

    def _key_sidechain_responses(self, expected: Any) -> Any:
        return _counted(self._texts("role = 'assistant' and is_sidechain"), expected)

    def _key_texts_in_order(self, _: list[str]) -> list[str]:
        return self._texts("text != ''")

    def _key_texts(self, _: list[str]) -> list[str]:
        return self._texts("text != ''")

    def _key_images(self, _: int) -> int:
        return sum(self._values("select images from turns where {mine}"))

    def _texts(self, which: str) -> list[str]:
        return self._values(
            f"select text from turns join sessions s using (session_id) where {{mine}} and {which} "
            "order by s.started_at, session_id, sequence_number"
        )

    def _key_search_finds(self, expected: Any) -> Any:
        """Some event's payload must hold the words that the case names: what is not in a payload is in no search."""
        if not (isinstance(expected, str) and "at least one" in expected):
            raise UnknownKeyError(f"search_finds {expected!r} is not 'at least one ...'")
        payloads = map(json.loads, self._values("select payload from events where {mine}"))
        return expected if any(self._words in json.dumps(payload, ensure_ascii=False) for payload in payloads) else 0

    # -- what was done ---------------------------------------------------------------------------------------------

    def _key_tool_calls(self, expected: Any) -> Any:
        if not isinstance(expected, list):
            return self._count("tool_calls")
        found = self._records("tool_calls", expected, CALL_COLUMNS)
        for call in found:
            if "input" in call:
                call["input"] = json.loads(call["input"])
        return expected if _same(found, expected) else found

    def _key_main_tool_calls(self, _: int) -> int:
        return self._count("tool_calls", "not is_sidechain")

    _key_tool_calls_main = _key_main_tool_calls

    def _key_tool_calls_all(self, _: int) -> int:
        return self._count("tool_calls")

    def _key_tool_calls_sidechain(self, _: int) -> int:
        return self._count("tool_calls", "is_sidechain")

    def _key_tool_result_text(self, _: Any) -> Any:
        found = self._values("select result from tool_calls where {mine} order by session_id, seq")
        return found[0] if len(found) == 1 else found

    def _tool_input(self, name: str) -> Any:
        inputs = map(json.loads, self._values("select input from tool_calls where {mine} order by session_id, seq"))
        values = [arguments.get(name) for arguments in inputs]
        return values[0] if len(values) == 1 else values

    # -- what it cost: over all sessions a pair of message id and request id counts once ---------------------------

    def _key_model_calls(self, _: int) -> int:
        return len(self._calls())

    def _calls(self) -> list[dict[str, Any]]:
        names = ("message_id", "request_id", *TOKENS)
        known = {}
        rows = self._rows(f"select {', '.join(names)} from usage where {{mine}} order by output_tokens nulls first")
        for number, row in enumerate(rows):
            call = dict(zip(names, row, strict=True))
            whole = call["message_id"] and call["request_id"]
            known[(call["message_id"], call["request_id"]) if whole else number] = call
        return list(known.values())

    # -- the files -------------------------------------------------------------------------------------------------

    def _key_lines(self, _: int) -> int:
        return sum(self._values("select lines from sources where {mine}"))

    def _key_import_issues(self, expected: Any) -> Any:
        if isinstance(expected, list):
            found = self._records("import_issues", expected, {})
            return expected if _same(found, expected) else found
        if isinstance(expected, dict):
            return dict(self._rows("select issue, sum(count)::bigint from import_issues where {mine} group by issue"))
        return self._count("import_issues")

    _key_import_issues_left = _key_import_issues

    def _key_the_tail(self, expected: str) -> str:
        """The end of a file that is being written: told as unfinished, and nothing else is wrong."""
        if "unfinished" not in expected:
            raise UnknownKeyError(f"the_tail {expected!r} says nothing of 'unfinished'")
        found = self._values("select issue from import_issues where {mine}")
        return expected if found == ["unfinished_line"] else ", ".join(found)

    # -- times -----------------------------------------------------------------------------------------------------

    def _key_negative_durations(self, _: int) -> int:
        return sum(self._count(table, "duration_ms < 0") for table in ("sessions", "turn_records", "tool_calls"))

    # ----------------------------------------------------------------------------------------------------------------

    @property
    def _mine(self) -> str:
        return "true" if self._session_id is None else "session_id = ?"

    @property
    def _bound(self) -> list[str]:
        return [] if self._session_id is None else [self._session_id]

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(query.replace("{mine}", self._mine), self._bound).fetchall()

    def _records(self, table: str, like: list[Any], columns: dict[str, str]) -> list[dict[str, Any]]:
        """The rows of a table, with the names that the expected ones have."""
        names = list(dict.fromkeys(name for each in like for name in each)) or [TABLES[table].key[-1]]
        if unknown := [name for name in names if columns.get(name, name) not in TABLES[table].schema.names]:
            raise UnknownKeyError(f"{table} have no {unknown}")
        chosen = ", ".join(columns.get(name, name) for name in names)
        return [
            dict(zip(names, row, strict=True)) for row in self._rows(f"select {chosen} from {table} where {{mine}}")
        ]

    def _values(self, query: str) -> list[Any]:
        return [row[0] for row in self._rows(query)]

    def _count(self, table: str, which: str = "true") -> int:
        return self._values(f"select count(*) from {table} where {{mine}} and {which}")[0]


def _counted(found: list[Any], expected: Any) -> Any:
    """The list, or its length where a number is expected."""
    return len(found) if type(expected) is int else found


def _same(found: list[Any], expected: Any) -> bool:
    """Whether two lists hold the same in any order."""
    return isinstance(expected, list) and sorted(map(repr, found)) == sorted(map(repr, expected))
