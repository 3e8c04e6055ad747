"""A lake of small tables, and landings of made-up sessions in it, for the tests of the store."""

from collections import defaultdict
from datetime import UTC, datetime

from workbench.store.delta import DeltaStore
from workbench.store.home import Home
from workbench.store.lake import Lake
from workbench.store.landing import land
from workbench.store.landing_key import LandingKey
from workbench.store.schema import BOOL, FLOAT, INT, STRING, STRINGS, TIME, Column, Table

SESSION = Column("session_id", STRING, "The session.", required=True)


def derived(name, key, *columns):
    return Table(name, "small", "derived", "one", key, (SESSION, *columns), "here")


SESSIONS = derived("sessions", ("session_id",), Column("events", INT, "Rows in events.", required=True))
EVENTS = derived(
    "events",
    ("session_id", "seq"),
    Column("seq", INT, "From 1.", required=True),
    Column("text", STRING, "What happened."),
)
CALLS = derived("calls", ("session_id", "seq"), Column("seq", INT, "From 1.", required=True))
ISSUES = derived("issues", ("session_id",), Column("detail", STRING, "What was found."))
LABELS = Table(
    "labels",
    "small",
    "entity",
    "what is said of one thing",
    ("space", "name"),
    (
        Column("space", STRING, "Where.", required=True),
        Column("name", STRING, "Of what.", required=True),
        Column("title", STRING, "What is said."),
        Column("tags", STRINGS, "More of it."),
        Column("seen_at", TIME, "When it was seen."),
    ),
    "here",
)
BLOBS = Table(
    "blobs",
    "small",
    "recorded",
    "one text",
    ("sha256",),
    (Column("sha256", STRING, "Its hash.", required=True), Column("text", STRING, "It.", required=True)),
    "here",
)
TABLES = {table.name: table for table in (SESSIONS, EVENTS, CALLS, ISSUES, LABELS, BLOBS)}
DERIVED = [table.name for table in TABLES.values() if table.kind == "derived"]


def small_lake(root):
    return Lake(Home.open(root), TABLES)


def stores(root, store=DeltaStore):
    """Stores of the derived tables of the home at `root`."""
    home = Home.open(root)
    return {name: store(home.tables / name, TABLES[name]) for name in DERIVED}


def landing(session_id, content):
    """A session with one event a letter of `content`, a call for every `c` and an issue where it has an `!`."""
    return LandingKey.of(session_id, 1, [content]), content


def derive_from(contents):
    """The function that derives rows of the landings in `contents`, as `land` wants it."""
    by_key = dict(contents)

    def derive(keys):
        rows = defaultdict(list)
        for key in keys:
            session, content, at = key.session_id, by_key[key], key.landing_id
            rows["sessions"].append((session, len(content), at))
            rows["events"] += [(session, seq, content, at) for seq in range(1, len(content) + 1)]
            rows["calls"] += [(session, seq, at) for seq, letter in enumerate(content, start=1) if letter == "c"]
            rows["issues"] += [(session, content, at)] if "!" in content else []
        return {name: TABLES[name].from_rows(rows[name]) for name in DERIVED}

    return derive


def land_all(root, sessions, store=DeltaStore):
    """Land sessions, given as a dict of id to content; returns the ids of those that were landed now."""
    contents = [landing(*item) for item in sessions.items()]
    done = land(stores(root, store), [key for key, _ in contents], derive_from(contents))
    return [key.session_id for key in done]


def shown(home):
    """What a reader of a lake, or of the home at a path, sees of each session: see `state`."""
    lake = home if isinstance(home, Lake) else small_lake(home)
    found = lake.sql(
        """
        select session_id, any_value(s.events) as told,
            (select count(*) from events e where e.session_id = s.session_id) as events,
            (select list(distinct text order by text) from events e where e.session_id = s.session_id) as texts,
            (select count(*) from calls c where c.session_id = s.session_id) as calls,
            (select list(detail order by detail) from issues i where i.session_id = s.session_id) as issues
        from sessions s group by session_id order by session_id
        """
    )
    return {row[0]: row[1:] for row in found.rows()}


def state(content):
    """What `shown` tells of a session with this content: events told, events, their texts, calls, and issues."""
    return len(content), len(content), [content], content.count("c"), [content] if "!" in content else None


def stored_rows(root):
    """Rows of each derived table on disk, whatever the views show."""
    handles = {name: store.handle() for name, store in stores(root).items()}
    return {name: 0 if handle is None else handle.to_pyarrow_dataset().count_rows() for name, handle in handles.items()}


def filled(table, number, **given):
    """A row with a value in every column, other ones for another number; texts but keys and ids say SECRET."""
    shown = {*table.key, "session_id", "source_id"}
    values = {
        STRING: lambda name: f"{'shown' if name in shown else 'SECRET'} {name} {number}",
        STRINGS: lambda name: [f"SECRET {name} {number}"],
        INT: lambda _: number,
        FLOAT: lambda _: number + 0.5,
        BOOL: lambda _: True,
        TIME: lambda _: datetime(2026, 3, number, tzinfo=UTC),
    }
    return {column.name: values[column.type](column.name) for column in table.columns} | given
