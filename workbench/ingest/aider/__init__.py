"""Aider: one Markdown file a project, to which every chat is appended (`.aider.chat.history.md`).

Learnt from a real history of versions 0.47 to 0.50 and from how Aider writes it: a start line; prompts as blocks of
`#### ` lines and messages of the tool as `> ` lines, both ending in two spaces; answers as they came. Only a chat's
start has a time, in local time without a zone.
"""

from workbench.ingest.aider.reader import NAME, read, sniff
from workbench.ingest.records import own_path as parent_path

__all__ = ["NAME", "parent_path", "read", "sniff"]
