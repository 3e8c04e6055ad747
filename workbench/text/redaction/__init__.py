"""The one seam through which every foreign byte passes before anything of it is written anywhere.

Archive, tables, vectors, reports and messages see only what comes out here: credentials are replaced by
`[REDACTED:rule]`, all else stays byte for byte. Reading order:

    rule           what a rule is
    by_prefix      the table of rules: keys that tell themselves by how they begin,
    by_shape       keys with a form of their own,
    by_name        and values told by a name, a header, a command, a place in an address
    rules          all of them in order
    shapes         what a credential looks like, and what only stands in the place of one
    private_keys   keys that run over many lines
    sieve          where in a text the rules have to look: the cheap test
    views          a text with its escapes undone, and the way back
    redactor       all of it together
"""

from __future__ import annotations

from typing import Final, Protocol

from workbench.text.redaction.redactor import Finding, Redaction
from workbench.text.redaction.rule import Rule
from workbench.text.redaction.rules import RULES

__all__ = [
    "RULES",
    "RULES_VERSION",
    "Finding",
    "Redaction",
    "Redactor",
    "Rule",
    "redact",
    "rules_version",
    "unredacted",
]

RULES_VERSION: Final = 2
"""Which rules a stored source went through; raised when they change. 0: none."""


class Redactor(Protocol):
    """Takes secrets out of a file's bytes; line ends and the number of lines stay. Raising stops the import."""

    def __call__(self, data: bytes) -> bytes:
        """The same bytes without secrets."""


redact: Final = Redaction()
"""The redactor with every rule of the table."""


def unredacted(data: bytes) -> bytes:
    """The redactor for who has switched redaction off: what goes in comes out."""
    return data


def rules_version(redactor: Redactor) -> int:
    """What `RULES_VERSION` says of bytes that went through a redactor."""
    return 0 if redactor is unredacted else RULES_VERSION
