"""Claude Code: one JSON object a line, one file a session; sub-agents in files beside it or nested in `progress`.

Learnt from real files of versions 2.0 to 2.1; what is not known is kept raw and counted.
"""

from workbench.ingest.claude_code.reader import NAME, PATTERNS, parent_path, read, sniff

__all__ = ["NAME", "PATTERNS", "parent_path", "read", "sniff"]
