"""The vault group: a folder of notes as rows.

`vault_runs` is the head: a run over a vault is one row there, appended last, and with it the run's rows of all other
tables are shown at once. Of the derived tables the newest run's rows are shown, of `notes` every version that a
finished run wrote.
"""

from __future__ import annotations

from typing import Final

from workbench.store.landing_key import VAULT_HEAD as HEAD
from workbench.store.schema import BOOL, FLOAT, INT, STRING, TIME, Column, Kind, Table, View
from workbench.store.sql import query

_VAULT = Column("vault_id", STRING, "The vault: a hash of the path of its folder, links resolved.", required=True)
_PATH = Column("path", STRING, "The note, below the vault, with `/`, spelled as on disk.", required=True)
_PLACE = Column("place", INT, "Which one in the note, from 0.", required=True)
_LINE = Column("line", INT, "Line of the note's text, from 1.", required=True)
_ORIGIN = Column("origin", STRING, "front_matter or inline.", required=True)
_SOURCE: Final = "PAI, Vault Tables; design 6"


def _table(kind: Kind, name: str, grain: str, key: tuple[str, ...], *columns: Column) -> Table:
    return Table(name, "vault", kind, grain, key, columns, _SOURCE, head=HEAD)


VAULT_RUNS: Final = _table(
    "recorded",
    HEAD,
    "one finished run of the index over a vault",
    ("run_id",),
    Column("run_id", STRING, "ULID.", required=True),
    _VAULT,
    Column("root", STRING, "The vault's folder, links resolved.", required=True),
    Column("name", STRING, "The folder's own name.", required=True),
    Column("started_at", TIME, "When the run began.", required=True),
    Column("recorded_at", TIME, "When it ended; grows strictly within a vault.", required=True),
    Column("notes", INT, "Notes there are.", required=True),
    Column("attachments", INT, "Other files there are, canvases and bases among them.", required=True),
    Column("links", INT, "Rows in note_links.", required=True),
    Column("added", INT, "Notes that were new.", required=True),
    Column("changed", INT, "Notes with other content than before.", required=True),
    Column("renamed", INT, "Notes that were at another path before.", required=True),
    Column("removed", INT, "Notes that are gone.", required=True),
    Column(
        "opened", INT, "Files that were opened; the others had the same size, time and inode as before.", required=True
    ),
    Column("unread", INT, "Files that could not be read; they keep what was known of them.", required=True),
    Column("issues", INT, "Rows in note_issues.", required=True),
    Column("duration_seconds", FLOAT, "From first look to last row.", required=True),
    Column("derive_version", INT, "Version of the code that makes the derived rows.", required=True),
    Column("code_version", STRING, "Version of workbench.", required=True),
)

NOTES: Final = _table(
    "entity",
    "notes",
    "one note",
    ("vault_id", "path"),
    _VAULT,
    _PATH,
    Column("note_id", STRING, "Stays the same when the note is renamed.", required=True),
    Column("renamed_from", STRING, "Its path before, in the version that a renaming made."),
    Column(
        "title",
        STRING,
        "Front matter's `title`, else the first heading of level 1, else the file's name.",
        required=True,
    ),
    Column(
        "text", STRING, "The file, credentials redacted, line ends as in the file; empty where deleted.", required=True
    ),
    Column("content_hash", STRING, "SHA-256 of the file.", required=True),
    Column("size_bytes", INT, "Size of the file.", required=True),
    Column("words", INT, "Words of the text below the front matter, separated by white space.", required=True),
    Column("modified_at", TIME, "The file's, when this content was first seen.", required=True),
    Column("created_at", TIME, "What the front matter says."),
    Column("folder", STRING, "First part of the path; null for a note that lies in no folder."),
)

VAULT_FILES: Final = _table(
    "derived",
    "vault_files",
    "one file or folder of a vault",
    ("vault_id", "path"),
    _VAULT,
    Column("path", STRING, "Below the vault, with `/`, spelled as on disk.", required=True),
    Column("kind", STRING, "note, canvas, base, attachment or folder.", required=True),
    Column("note_path", STRING, "The note whose content it is; of an alias another path than its own."),
    Column("size_bytes", INT, "Size; 0 for a folder.", required=True),
    Column("mtime_ns", INT, "Time of change, nanoseconds since 1970; 0 for a folder.", required=True),
    Column("inode", INT, "With `device` it tells the file; from 2^63 on counted from -2^63.", required=True),
    Column("device", INT, "See `inode`."),
    Column("link_target", STRING, "Where a symbolic link, or a folder reached by one, leads; null for what lies here."),
    Column("content_hash", STRING, "SHA-256 of a note; null for others."),
)

NOTE_LINKS: Final = _table(
    "derived",
    "note_links",
    "one link, as often as it occurs",
    ("vault_id", "source_path", "place"),
    _VAULT,
    Column("source_path", STRING, "The note with the link.", required=True),
    _PLACE,
    _LINE,
    Column("syntax", STRING, "wikilink, embed, md_link or md_embed.", required=True),
    Column("raw", STRING, "What stands between the brackets.", required=True),
    Column(
        "target",
        STRING,
        "The name that is linked to, decoded, without heading and block; empty for the note itself.",
        required=True,
    ),
    Column("heading", STRING, "The heading that is linked to, subheadings separated by #."),
    Column("block", STRING, "The block that is linked to."),
    Column("display", STRING, "What is shown in its place."),
    Column("in_front_matter", BOOL, "Whether it stands in the front matter.", required=True),
    Column("field", STRING, "The property or inline field that it is the value of, or a part of the value."),
    Column("target_path", STRING, "What it leads to; null where there is nothing."),
    Column("target_kind", STRING, "note, attachment, folder or self; null where there is nothing."),
    Column(
        "anchor_found", BOOL, "Whether the note it leads to has the heading or block; null where none is asked for."
    ),
    Column("link_class", STRING, "sequential or associative; null unless it leads to another note."),
    Column(
        "class_reason", STRING, "Why it is sequential: field, number, date, folgezettel or tag; null if associative."
    ),
)

NOTE_TAGS: Final = _table(
    "derived",
    "note_tags",
    "one occurrence of a tag",
    ("vault_id", "path", "place"),
    _VAULT,
    _PATH,
    _PLACE,
    Column(
        "tag",
        STRING,
        "Without #, spelled as where the note has it first; case does not tell tags apart.",
        required=True,
    ),
    _ORIGIN,
    _LINE,
)

NOTE_ALIASES: Final = _table(
    "derived",
    "note_aliases",
    "another name of a note",
    ("vault_id", "path", "alias", "kind"),
    _VAULT,
    _PATH,
    Column("alias", STRING, "The name, or another path of the same file.", required=True),
    Column("kind", STRING, "front_matter or path.", required=True),
)

NOTE_HEADINGS: Final = _table(
    "derived",
    "note_headings",
    "one heading",
    ("vault_id", "path", "place"),
    _VAULT,
    _PATH,
    _PLACE,
    _LINE,
    Column("level", INT, "From 1 to 6.", required=True),
    Column("text", STRING, "Its text, marks of emphasis and links included.", required=True),
)

NOTE_BLOCKS: Final = _table(
    "derived",
    "note_blocks",
    "one block that can be linked to",
    ("vault_id", "path", "place"),
    _VAULT,
    _PATH,
    _PLACE,
    Column("block_id", STRING, "Its name, without ^.", required=True),
    _LINE,
)

NOTE_FIELDS: Final = _table(
    "derived",
    "note_fields",
    "one property in the front matter or field in the text",
    ("vault_id", "path", "place"),
    _VAULT,
    _PATH,
    _PLACE,
    Column("key", STRING, "As written.", required=True),
    Column("value", STRING, "JSON.", required=True),
    _ORIGIN,
    _LINE,
)

NOTE_ISSUES: Final = _table(
    "derived",
    "note_issues",
    "something in a vault that could not be read as it was meant",
    ("vault_id", "path", "place"),
    _VAULT,
    Column("path", STRING, "The file.", required=True),
    _PLACE,
    Column("kind", STRING, "Of a fixed set: see `docs/vault.md`.", required=True),
    Column("line", INT, "Line in the file, from 1, where it is known."),
    Column("detail", STRING, "What was found and what to do.", required=True),
)

TABLES: Final = (
    VAULT_RUNS,
    NOTES,
    VAULT_FILES,
    NOTE_LINKS,
    NOTE_TAGS,
    NOTE_ALIASES,
    NOTE_HEADINGS,
    NOTE_BLOCKS,
    NOTE_FIELDS,
    NOTE_ISSUES,
)

VAULTS: Final = View(
    "vaults",
    "vault",
    "one vault, as its newest run left it",
    ("vault_id",),
    VAULT_RUNS.declared,
    (HEAD,),
    query("vaults"),
    "design 6",
)

VIEWS: Final = (VAULTS,)
