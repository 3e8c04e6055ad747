"""Gemini CLI: one file a session, `~/.gemini/tmp/<project>/chats/session-<time>-<id>.json`, later `.jsonl`.

The older layout is one object with all messages, written anew each time. The newer one appends lines: a header, a
message again whenever it changes (the last line with an id is the message), `$set` for changes of the header,
`$rewindTo` for messages taken back. Learnt from a real file of the older layout and, for the newer one, from the field
cases and the source of gemini-cli (`chatRecordingService.ts`). The directory is told as a hash only: it stays unknown.
"""

from workbench.ingest.gemini_cli.reader import NAME, parent_path, read, sniff

__all__ = ["NAME", "parent_path", "read", "sniff"]
