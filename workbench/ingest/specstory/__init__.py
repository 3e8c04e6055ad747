"""SpecStory: sessions of other agents, exported as Markdown (`.specstory/history/*.md`).

Learnt from a real export of a Codex CLI session (Markdown v2.1.0) and from how SpecStory writes its exports. A file is
one session and is written anew as the session goes on. Of tokens and directories an export tells nothing.
"""

from workbench.ingest.records import own_path as parent_path
from workbench.ingest.specstory.reader import NAME, read, sniff

__all__ = ["NAME", "parent_path", "read", "sniff"]
