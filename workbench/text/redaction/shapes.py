"""What a credential looks like, and what only stands in the place of one."""

from __future__ import annotations

import base64
import binascii
import re
from itertools import pairwise
from typing import Final

SHORTEST_PASSWORD: Final = 6
SHORTEST_SECRET: Final = 8

# -- placeholders ------------------------------------------------------------------------------------------------------

_STANDS_IN: Final = re.compile(
    r"x{5,}|\*{3,}|\.{3}|-{4,}|_{4,}|example|placeholder|\bredacted|removed"
    r"|change[-_ ]?me|replace[-_ ]?(?:me|with|this)"
    r"|not[-_ ]?(?:a[-_ ])?real|(?:^|[^a-z])your[^a-z]",
    re.IGNORECASE,
)
"""Anywhere in a value: written by somebody who means "a credential goes here"."""

_REFERS: Final = re.compile(
    r"\$\(|\$\{|\$[A-Za-z_]\w*$|\$\d|<|\{|%[({]|%[a-zA-Z]\b|%\w+%$|#\{|@[A-Z_]+@$|\[|\(|!!|!(?:vault|Ref|Sub|GetAtt|secret)\b|&[A-Za-z*]|[*=?]"
    r"|%[A-Za-z_]+$|0x[0-9A-Fa-f]{1,16}$"
    r"|https?:|file:|(?:process|import\.meta|Deno|Bun)\.|os\.|env[.\[:(]|ENV\b|[Ss]ystem\.|secrets?[.\[]|vars?\.|self\."
    r"|this\.|(?:config|settings|options|args|params|req|request|ctx)[.\[]|vault:|arn:|projects/|op://|ref\+"
)
"""At the start of a value: a name or expression that says where the credential is, and not the credential."""

_PATH: Final = re.compile(r"(?:~|\.{1,2})?/[A-Za-z0-9_.]")

_GENERIC: Final = frozenset(
    {
        "admin",
        "bearer",
        "default",
        "guest",
        "none",
        "null",
        "postgres",
        "root",
        "string",
        "test",
        "test123",
        "undefined",
    }
    | {
        "apikey",
        "api-key",
        "api_key",
        "credential",
        "credentials",
        "key",
        "secret",
        "token",
        "user",
        "username",
        "value",
    }
    | {"mypassword", "pass", "passwd", "password", "password1", "password123", "pw", "pwd"}
)
"""Words that documentation writes where a credential goes."""


def is_placeholder(value: str) -> bool:
    """Whether a value stands in the place of a credential: `<token>`, `$TOKEN`, `your-key-here`, `xxxxx`, `***`."""
    return (
        _REFERS.match(value) is not None
        or _STANDS_IN.search(value) is not None
        or value.lower() in _GENERIC
        or len(set(value)) <= 1
        or (_PATH.match(value) is not None and changes(value) < len(value) // 3)
    )


# -- words, and what is drawn by lot -----------------------------------------------------------------------------------

_RUN: Final = re.compile(r"[A-Za-z0-9]+")
_WORDS: Final = re.compile(
    r"(?:[A-Z]?[a-z]{2,}[0-9]{0,3})?(?:[A-Z][a-z]{2,}[0-9]{0,3}|[A-Z][a-z]|[A-Z]{1,4})*[0-9]{0,4}"
    r"|[A-Z]?[a-z]{2,}[0-9]{1,3}[a-z]{3,}|[A-Z]+[0-9]{0,4}|[vV]?[0-9]+[A-Za-z]{0,3}"
)
"""Words run together as programs do it, numbers behind them: `userToken2`, `HTTPServer`, `v10`, `20260301a`."""

_FEW: Final = 5


def changes(value: str) -> int:
    """How often neighbours inside runs of letters and digits differ in kind: capital, small letter, digit.

    Words change once a word, random characters on more than every second place.
    """
    return sum(_kind(one) != _kind(other) for run in _RUN.findall(value) for one, other in pairwise(run))


def _kind(char: str) -> int:
    return 0 if char.isdigit() else 1 if char.isupper() else 2


def is_random(value: str) -> bool:
    """Whether a value looks drawn by lot: a long run that mixes letters and digits, or shorter ones that change a lot.

    Random letters without any digit are rare (1 in 60 of 24 characters) and look like words run together.
    """
    odd = [run for run in _RUN.findall(value) if not _WORDS.fullmatch(run)]
    if not any(char.isdigit() for char in value):
        return False
    if any(len(run) >= SHORTEST_SECRET and _is_mixed(run) for run in odd):
        return True
    return sum(map(changes, odd)) >= max(_FEW, len(value) // 6)


def _is_mixed(run: str) -> bool:
    return any(char.isdigit() for char in run) and any(char.isalpha() for char in run)


# -- credentials -------------------------------------------------------------------------------------------------------

_CODE: Final = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\[)[A-Za-z_$\d][\w$]*\]?)*[([]?")
_NAMING: Final = re.compile(r"pass|pwd|pw|secret|token|key|cred|auth|user|arg|param|input|value|str", re.IGNORECASE)


def is_token(value: str) -> bool:
    """Whether what follows a telling beginning is a token: no placeholder, and not words joined by `-`, `_` or `.`."""
    if _STANDS_IN.search(value) is not None:
        return False
    return value.isalnum() or any(char.isdigit() for char in value) or changes(value) >= len(value) // 4


def is_sk_key(value: str) -> bool:
    """Whether `sk-...` is a key and not words: `sk-` begins keys of a dozen vendors, and much else.

    One run of letters and digits is a key, and so are several if one of them looks drawn by lot.
    """
    body = value[3:]
    if _STANDS_IN.search(body) is not None:
        return False
    return (body.isalnum() and _is_mixed(body)) or is_random(body)


def is_secret(value: str) -> bool:
    """Whether the value of a `token`, `secret` or `api_key` is one."""
    return len(value) >= SHORTEST_SECRET and " " not in value and is_random(value) and not is_placeholder(value)


def is_password(value: str) -> bool:
    """Whether the value of a `password` is one; here a word with a number is enough, or letters with a symbol."""
    if len(value) < SHORTEST_PASSWORD or " " in value or is_placeholder(value):
        return False
    if value.isdigit():
        return True
    has_symbol = any(char in "!@#$%^&*+~" for char in value)
    return any(char.isalpha() for char in value) and (has_symbol or any(char.isdigit() for char in value))


def is_any_word(value: str) -> bool:
    """Whether a value is a password where anything is one that is long enough and no placeholder."""
    return len(value) >= SHORTEST_PASSWORD and not is_placeholder(value)


def is_name(value: str) -> bool:
    """Whether an unquoted value is more likely a variable, an attribute or a call than a credential."""
    if _CODE.fullmatch(value) is None or is_random(value):
        return False
    return not any(char.isdigit() for char in value) or not value.isalnum() or _NAMING.search(value) is not None


def holds_user_and_password(value: str) -> bool:
    """Whether a value is base64 of `user:password`."""
    try:
        text = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return False
    return ":" in text.strip(":") and text.isprintable()


def is_jwt(value: str) -> bool:
    """Whether the first part of a value is the JSON header of a token."""
    head = value.split(".", 1)[0]
    try:
        text = base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))
    except (binascii.Error, ValueError):
        return ".eyJ" in value
    return ".eyJ" in value or any(name in text for name in (b'"alg"', b'"typ"', b'"enc"', b'"kid"'))
