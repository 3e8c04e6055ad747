"""Credentials that their place tells: in an address, a header, a file of a known form, a command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from workbench.text.redaction import raw, shapes
from workbench.text.redaction.rule import FAR, Rule, Stretch, taken_if

_PAIR: Final = re.compile(r"([A-Za-z0-9_.%-]{1,80})=([^\x00-\x20;,=]{6,}=*)")
_OF_A_SESSION: Final = re.compile(r"sess|sid|auth|token|jwt|csrf|xsrf|login|remember", re.IGNORECASE)
_LONG_COOKIE: Final = 16


def _cookies(match: re.Match[str]) -> Iterator[Stretch]:
    """The values of cookies that look like credentials."""
    begin = match.start(1)
    for pair in _PAIR.finditer(match[1]):
        if shapes.is_secret(pair[2]) and (len(pair[2]) >= _LONG_COOKIE or _OF_A_SESSION.search(pair[1])):
            yield begin + pair.start(2), begin + pair.end(2)


_PORT: Final = re.compile(r"[0-9]{1,5}[?#),;\]}|]")


def _is_of_address(value: str) -> bool:
    """Whether what stands between `:` and `@` in an address is a password, and not a port or a placeholder."""
    return not _PORT.match(value) and "(?" not in value and not shapes.is_placeholder(value)


def _is_of_command(value: str) -> bool:
    return not shapes.is_placeholder(value) and not value.isdigit()


def _is_in_header(value: str) -> bool:
    return shapes.holds_user_and_password(value) or (
        len(value) >= shapes.SHORTEST_SECRET and not shapes.is_placeholder(value) and shapes.is_random(value)
    )


BY_PLACE: Final = (
    Rule(
        "url-password",
        "Password in an address: scheme://user:password@host",
        ("://", *(":" + "\\" * count + "/" for count in range(1, 5))),
        r"://[^\x00-\x20/:@\"'`<>\\\[]{0,100}:([^\x00-\x20/\"'`<>\\]+)@",
        taken_if(_is_of_address),
        (
            "postgres://app:{12}@db.example:5432/main",
            "redis://:{12}@cache.example/0",
            "amqp://svc:p@ss-{6}@mq.example",
            "https://x-access-token:{20}@git.example/o/r.git",
        ),
        (
            "https://example.com/path?x=1@2",
            "http://reader@example.com/feed",
            "git@git.example:team/repo.git",
            "http://localhost:8080/a:b@c",
            "load @rules_demo//:defs.bzl and mail team@example.com",
            "postgres://user:password@localhost/app",
            "postgres://app:${DB_PASSWORD}@db/app",
            "postgres://app:$PGPASSWORD@db/app",
            "mysql://root:<password>@localhost",
            "http://127.0.0.1:3000?to=a@b",
            "https://[REDACTED:github-token]@git.example/o/r.git",
        ),
        after=r"(?:\\*/)?[^ \t\r\n/:@\"'`<>\\]*:[0-9]*(?:[^0-9 \t\r\n/\"'`<>\\,;)\]}]|\\+u)",
        edged=False,
        behind=FAR,
    ),
    Rule(
        "authorization",
        "Header Authorization: Bearer, Basic, Token",
        ("authorization", "Authorization", "AUTHORIZATION", "bearer", "Bearer"),
        r"(?i:authorization)[\"'`]?[ \t]{0,4}[:=,][ \t]{0,4}[\"'`]?"
        r"(?:(?i:bearer|basic|token|apikey|api-key|key|bot|oauth|digest|negotiate)(?:[ \t]|%20|\+)+)?"
        r"([A-Za-z0-9._~+/=-]{8,})"
        r"|(?i:bearer)(?:[ \t]|%20)+([A-Za-z0-9._~+/=-]{16,})",
        taken_if(_is_in_header),
        (
            "Authorization: Bearer {40}",
            "curl -H 'authorization: token {40}'",
            "Authorization: Basic {p12}",
            "bearer {w32}",
        ),
        (
            "Authorization: Bearer <token>",
            "Authorization: Bearer $TOKEN",
            "Authorization: Bearer ${TOKEN}",
            "bearer authentication-of-the-second-generation",
            "Authorization: Bearer your-token-here",
            "basic implementation",
        ),
        after=rf"(?:{raw.QUOTE})?[ \t:=,%]+(?:{raw.QUOTE})?[A-Za-z0-9]",
    ),
    Rule(
        "cookie",
        "Values of session cookies in the headers Cookie and Set-Cookie",
        ("cookie", "Cookie"),
        r"(?i:cookie)(?:[\"'`]?[ \t]{0,4}[:,][ \t]{0,4}[\"'`]?|[ \t=]{1,3}[\"'`])"
        r"([A-Za-z0-9_.%-]{1,80}=[^\"'`\\\n<>]{6,})",
        _cookies,
        (
            "Set-Cookie: sid={d2}{24}; Path=/; HttpOnly",
            "Cookie: theme=dark; session={h32}",
            "curl --cookie 'auth={d2}{w40}'",
        ),
        (
            "Set-Cookie: theme=dark; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
            "cookie = parse(value)",
            "?cookie=no&id={h32}",
        ),
        after=rf"(?:{raw.QUOTE})?[ \t:=,]+(?:{raw.QUOTE})?[A-Za-z0-9_.%-]+=",
    ),
    Rule(
        "netrc",
        "Password of a .netrc",
        ("login",),
        r"(?:machine[ \t]+[^\x00-\x20\"'`\\]{1,100}|default)\s{1,8}login[ \t]+[^\x00-\x20\"'`\\]{1,100}\s{1,8}"
        r"(?:account[ \t]+[^\x00-\x20\"'`\\]{1,100}\s{1,8})?password[ \t]+([^\x00-\x20\"'`\\<>]{3,})",
        taken_if(shapes.is_any_word),
        ("machine api.example login ann password {l10}", "machine api.example\n  login ann\n  password {12}"),
        ("machine api.example login ann password $PW", "the login form and password field"),
        after=rf"{raw.GAP}+[^ \t\r\n\"'`\\]+{raw.GAP}+(?:password|account){raw.GAP}",
        before=130,
        behind=FAR,
    ),
    Rule(
        "pgpass",
        "Password of a .pgpass: host:port:database:user:password",
        (":5432:", ":5433:", ":6432:", ":5439:"),
        r"(?:^|[\s\"'`])[A-Za-z0-9.*_-]{1,100}:(?:5432|5433|6432|5439):[A-Za-z_*][A-Za-z0-9_-]{0,40}:[A-Za-z_][A-Za-z0-9_.-]{0,40}"
        r":([^\x00-\x20\"'`\\:<>]{6,})",
        taken_if(shapes.is_password),
        ("db.example:5432:main:app:{d2}{12}", "*:5432:*:app:{d2}{12}"),
        ("store.go:5234:open:lint:unused-parameter", "db.example:5432:main:app:$PGPASSWORD"),
        after="[A-Za-z_*]",
        edged=False,
        before=102,
        behind=FAR,
    ),
    Rule(
        "docker-auth",
        "User and password in the configuration of Docker and npm",
        ("auth",),
        r"(?i:auth)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"'`]?([A-Za-z0-9+/]{8,}={0,2})",
        taken_if(shapes.holds_user_and_password),
        ('{"auths": {"registry.example": {"auth": "{p12}"}}}', "_auth={p12}"),
        ('{"auth": "required"}', "auth: middleware"),
        after=rf"(?:{raw.QUOTE})?[ \t]*[:=][ \t]*(?:{raw.QUOTE})?[A-Za-z0-9+/\\]{{8}}",
    ),
    Rule(
        "command-password",
        "User and password on the command line of curl and wget",
        (" -u", " --user"),
        r"\b(?:curl|wget)\b[^\n;|]{0,300}?[ \t](?:-u|--user)[ \t=]{1,2}[\"'`]?"
        r"[A-Za-z0-9._@+%-]{1,64}:([^\x00-\x20\"'`\\<>]{3,})",
        taken_if(_is_of_command),
        ("curl -s -u ann:{12} https://api.example", "curl --user 'ann:{12}' https://api.example"),
        ("docker run --user 1000:1000 image", "curl -u user:$PASS https://x", "curl -u ann:password https://x"),
        after=rf"[ \t=]+(?:{raw.QUOTE})?[A-Za-z0-9._@+%-]+:",
        edged=False,
        before=310,
        behind=FAR,
    ),
    Rule(
        "command-password",
        "Password on the command line of mysql and mariadb",
        ("mysql", "mariadb"),
        r"(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n;|]{0,100}?[ \t]-p[\"'`]?([^\x00-\x20\"'`\\<>]{4,})",
        taken_if(shapes.is_password),
        ("mysql -h db -u root -p{d2}{12} main", "mysqldump -p'{d2}{12}' main"),
        ("mysql -u root -p main", "mysql is up -port 3306"),
        after="(?:dump|admin)?[ \t]",
    ),
    Rule(
        "command-password",
        "Password on the command line of sshpass, redis-cli, docker login",
        ("redis-cli", "sshpass", "docker login"),
        r"sshpass[ \t]+-p[ \t]*[\"'`]?([^\x00-\x20\"'`\\<>]{3,})"
        r"|redis-cli\b[^\n;|]{0,100}?[ \t]-a[ \t]+[\"'`]?([^\x00-\x20\"'`\\<>]{4,})"
        r"|docker[ \t]+login\b[^\n;|]{0,100}?[ \t]-p[ \t]+[\"'`]?([^\x00-\x20\"'`\\<>]{4,})",
        taken_if(_is_of_command),
        ("sshpass -p {12} ssh host", "redis-cli -h cache -a {16} ping", "docker login -u ann -p {12}"),
        ("docker login -p $TOKEN", "docker login -p ${TOKEN} registry.example"),
        after="[ \t]",
    ),
    Rule(
        "secret",
        "Signature of an address that is its own password: Azure SAS, presigned S3 and GCS",
        ("sig=", "Signature="),
        r"[?&](?:sig|X-Amz-Signature|X-Goog-Signature|Signature)=([A-Za-z0-9%+/=_~-]{32,})",
        taken_if(shapes.is_random),
        ("https://a.blob.example/c?sv=2024&sig={b43}%3D", "https://b.example/k?X-Amz-Signature={h64}"),
        ("https://x.example/?sig=short",),
        after=r"[A-Za-z0-9%+/\\]{16}",
        before=8,
        behind=FAR,
    ),
)
