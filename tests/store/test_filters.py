"""Conditions mean the same in Polars and in LanceDB's SQL, and a hostile value is a value."""

from datetime import UTC, datetime, timedelta, timezone

import lancedb
import polars as pl
import pytest

from workbench.errors import QueryError
from workbench.store.filters import Where

NOON = datetime(2026, 3, 2, 12, 0, 0, 500_000, tzinfo=UTC)
ROWS = pl.DataFrame(
    {
        "n": [1, 2, 3, 4],
        "tool": ["Bash", "o'k", "x') or true --", None],
        "occurred_at": [NOON - timedelta(seconds=1), NOON, NOON + timedelta(microseconds=1), None],
    },
    schema_overrides={"occurred_at": pl.Datetime("us", "UTC")},
)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return lancedb.connect(tmp_path_factory.mktemp("filters")).create_table("t", ROWS.to_arrow())


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"tool": "Bash"}, [1]),
        ({"tool": "o'k"}, [2]),
        ({"tool": "x') or true --"}, [3]),
        ({"tool": ["Bash", "o'k", "nothing"]}, [1, 2]),
        ({"tool": []}, []),
        ({"since": NOON}, [2, 3]),
        ({"until": NOON}, [1]),
        ({"since": NOON.astimezone(timezone(timedelta(hours=5))), "until": NOON + timedelta(microseconds=1)}, [2]),
        ({"tool": "Bash", "since": NOON}, []),
        ({"tool": None, "since": NOON}, [2, 3]),
    ],
)
def test_both_engines_find_the_same(table, wanted, found):
    where = Where.of(**wanted)
    assert ROWS.filter(where.expression())["n"].to_list() == found
    assert sorted(table.search().where(where.sql()).select(["n"]).to_arrow()["n"].to_pylist()) == found


def test_nothing_asked_for_is_no_condition():
    assert Where.of(tool=None, since=None) is None


def test_a_time_without_a_zone_is_refused():
    with pytest.raises(QueryError, match="since needs a time with a zone"):
        Where.of(since=datetime(2026, 3, 2))  # noqa: DTZ001
