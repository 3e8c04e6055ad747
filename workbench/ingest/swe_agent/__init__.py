"""SWE-agent: one JSON object a run, written anew after every step (`<instance>.traj`).

Learnt from a real file of version 1 and from how versions 0.5 to 1.1 write theirs. `history` is the conversation once;
`trajectory` has a step a response, with what the action gave back, and holds failed attempts that the history lacks;
the `messages` or `query` of a step are copies and are not read.
"""

from workbench.ingest.records import own_path as parent_path
from workbench.ingest.swe_agent.reader import NAME, read, sniff

__all__ = ["NAME", "parent_path", "read", "sniff"]
