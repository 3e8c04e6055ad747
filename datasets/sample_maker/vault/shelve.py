"""Write the vault, and beside it what it holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from sample_maker.vault.ideas import IDEAS
from sample_maker.vault.workaday import WORKADAY

ATTACHMENT: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 220 90" width="220" height="90">
  <g fill="none" stroke="#2f6db5" stroke-width="2"><path d="M50 45h110"/><path d="M152 39l8 6-8 6"/></g>
  <g fill="#1b1f24" font-family="sans-serif" font-size="14">
    <text x="14" y="50">Ben</text><text x="170" y="50">Ada</text><text x="84" y="36">12.50</text>
  </g>
</svg>
"""
FENCE: Final = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
WIKILINK: Final = re.compile(r"(!?)\[\[[^\]\n]+\]\]")

COMMENT: Final = """\
# The vault, counted by its maker.
#
# notes       Markdown files
# wikilinks   [[...]] outside code, front matter included
# embeds      ![[...]]
# dangling    links to notes that do not exist
# aliases     in front matter
# unlinked    notes that link to nothing and that nothing links to
"""

DANGLING: Final = ("Voting paradoxes", "Runbook")
"""Names that are linked to though there is no such note; the first one twice."""
UNLINKED: Final = ("Inbox/Tea.md", "Inbox/Bookshelf order.md")


def shelve(folder: Path) -> dict[str, int]:
    """Write all notes below a folder.

    Returns:
        Counts by name, as `COMMENT` explains them.
    """
    notes = (*IDEAS, *WORKADAY)
    for note in notes:
        path = folder / f"{note.path}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note.text(), encoding="utf-8")
    picture = folder / "Attachments" / "settling.svg"
    picture.parent.mkdir()
    picture.write_text(ATTACHMENT, encoding="utf-8")
    text = "\n".join(FENCE.sub("", note.text()) for note in notes)
    found = WIKILINK.findall(text)
    return {
        "notes": len(notes),
        "wikilinks": found.count(""),
        "embeds": found.count("!"),
        "dangling": sum(text.count(f"[[{name}]]") for name in DANGLING),
        "aliases": sum(len(note.aliases) for note in notes),
        "unlinked": len(UNLINKED),
    }


def counts_toml(counts: dict[str, int]) -> str:
    """The counts as a file."""
    return COMMENT + "\n" + "".join(f"{name} = {number}\n" for name, number in counts.items())
