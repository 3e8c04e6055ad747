"""Codex CLI: one JSON object a line, one file a thread (`~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`).

No real log was at hand. What is read here was learnt from written descriptions: the source of Codex (`protocol.rs`,
`models.rs`, `rollout/policy.rs`, `history/lib.rs`, `agent/control/spawn.rs`), txcript's page on the format, the field
cases, and reports of tools that counted wrongly. Two logs stand in one file: *items* are what the model saw, *events*
what the person was shown, and most of what was said stands in both, next to each other. Sub-agents and forks have files
of their own, which may begin with a copy of their parent's history. Files of 2025 and before have bare items without
envelope, most of them without a time.
"""

from workbench.ingest.codex.lineage import parent_path
from workbench.ingest.codex.reader import NAME, read
from workbench.ingest.codex.wire import sniff

__all__ = ["NAME", "parent_path", "read", "sniff"]
