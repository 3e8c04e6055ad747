"""Credentials that the name tells to which they are assigned."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from workbench.text.redaction import raw, shapes
from workbench.text.redaction.rule import FAR, Judge, Rule, Stretch, taken_if

# -- values that are assigned to a name --------------------------------------------------------------------------------

_OF_SECRETS: Final = r"secret|token|credential|_auth|[a-z_-]key"
_OF_PASSWORDS: Final = r"password|passwd|passphrase|pwd|[_-]pass"

_QUOTED: Final = r"""[bfru]?(?:"((?:[^"\\\n]|\\[^\n]){3,})"|'([^'"\\\n]{3,})'|`([^`'"\\\n]{3,})`)"""
_BARE: Final = r"""([^\x00-\x20"'`\\<>]{3,})"""


def _assigned(words: str) -> str:
    """A value that is assigned to a name with one of some words in it; groups: word, rest of the name, value.

    A name in quotes takes a value in quotes only: beside a JSON string anything else is a number.
    """
    sign = r"(?:=>|:=|={1,3}|:)"
    kind = (
        r"(?::[ \t]{0,2}&?[A-Za-z][A-Za-z.\[\]|*?<>']{0,24}(?: [A-Za-z]{1,10})?|[ \t][A-Za-z.\[\]*]{1,24})[ \t]{0,2}="
    )
    return (
        rf"((?i:{words}))([A-Za-z0-9_-]{{0,32}})(?:"
        rf"""["'`],?[ \t]{{0,4}}["']?value["']?[ \t]{{0,2}}[:=][ \t]{{0,2}}{_QUOTED}"""
        rf"""|["'`]\]?[ \t]{{0,4}}(?:{sign}|,)[ \t]{{0,4}}{_QUOTED}"""
        rf"""|[ \t]{{0,4}}(?:{kind}|{sign})[ \t]{{0,4}}(?:{_QUOTED}|{_BARE})"""
        rf"""|[ \t]{{0,4}}(?:\|\||\?\?)[ \t]{{0,4}}{_QUOTED}"""
        rf"""|>{_BARE}</"""
        rf"""|[ \t]{{1,2}}(?:is|was)[ \t]{{1,2}}(?:{_QUOTED}|{_BARE})"""
        r")"
    )


def _option(words: str) -> str:
    """The value of an option of a command whose name ends in one of some words."""
    return rf"-((?i:{words}))([A-Za-z0-9-]{{0,20}})[ \t]{{1,2}}(?:{_QUOTED}|{_BARE})"


_GOES_ON: Final = re.compile(r"s?(?:[0-9_A-Z-][A-Za-z0-9_-]*)?")
"""How a name goes on behind the word, if the word is one: `token_prod`, `tokenProd`, and not `tokenizer`."""

_KEY: Final = re.compile(
    r"(?:api|access|private|auth|account|encryption|signing|secret|master|service|app|client|deploy|storage|shared|admin"
    r"|webhook|license|subscription|functions?|personal|project)[_-]?key$",
    re.IGNORECASE,
)
"""A key that is a secret; `primary_key` and `cacheKey` are none."""

_SAYS_OTHERWISE: Final = re.compile(
    r"(?:^|[_-])(?:hash|digest|count|type|name|id|url|uri|path|file|filename|dir|expir[a-z]*|exp|ttl|len|length|limit|usage"
    r"|used|index|kind|field|ref|policy|label|prefix|suffix|header|param|arn|version|size|status|env|var|regex|pattern"
    r"|format|provider|manager|service|store|endpoint|scope|budget|rate|price|cost|estimate|source|class|error|at|in|out"
    r"|hint|placeholder|mask|rotation|algorithm|strength|min|max|per|model|stdin)s?$",
    re.IGNORECASE,
)
"""Last words of a name that make it the name of something about a credential."""

_HUMP: Final = re.compile(r"([a-z0-9])([A-Z])")

_BEFORE_OPTION: Final = re.compile(r"(?:^|[\s\"'`(\[])(?:-?|-{1,2}[A-Za-z0-9]{1,16}(?:-[A-Za-z0-9]{1,16}){0,3})$")
"""The beginning of an option, up to the dash before its last word."""

_CUT: Final = re.compile(
    r"[;,|](?:[ \t]*[A-Za-z_][A-Za-z0-9_. -]*[=:]|$)|&(?:[A-Za-z_][A-Za-z0-9_.-]*=|amp;|&|$)|[)\]};,.]+$"
)
"""Where an unquoted value ends: before the next pair, and before the punctuation around it."""

_IS_WEAK: Final = re.compile(r"[ \t]+(?:is|was)[ \t]|[\"'`][ \t]*,")
"""What does not assign: prose, and a list of words. Behind these only what looks drawn by lot is taken."""

_CODE: Final = re.compile(r"[(){}]")

_NAME: Final = re.compile(r"[A-Za-z0-9_]+$")

_FAR: Final = 64


def _value_if(accepts: Callable[[str], bool], *, of_option: bool = False) -> Judge:
    """A judge of what `_assigned` or `_option` matches."""

    def judge(match: re.Match[str]) -> Iterator[Stretch]:
        group = match.lastindex or 1
        start, value = match.start(group), match[group]
        before = match.string[max(0, match.start(1) - _FAR) : match.start(1)]
        if of_option and not _BEFORE_OPTION.search(before.removesuffix("-")):
            return
        if not _is_credential(before, match[1], match[2]):
            return
        if _IS_WEAK.match(match.string, match.end(2)) and not shapes.is_random(value):
            return
        if match.string[start - 1] not in "\"'`":
            cut = _CUT.search(value)
            value, rest = (value[: cut.start()], value[cut.start() :]) if cut else (value, "")
            if rest.startswith("...") or _CODE.search(value) or shapes.is_name(value):
                return
        if accepts(value):
            yield start, start + len(value)

    return judge


def _is_credential(before: str, word: str, rest: str) -> bool:
    """Whether something is one by its name: the word that was looked for, and what stands before and behind it.

    An id drawn by lot holds such a word now and then, and is no name.
    """
    if word[-3:].lower() == "key" and not _KEY.search(before + word):
        return False
    if _GOES_ON.fullmatch(rest) is None or _SAYS_OTHERWISE.search(_HUMP.sub(r"\1_\2", rest)):
        return False
    name = _NAME.search(before + word + rest)
    return name is not None and "public" not in name[0].lower() and not shapes.is_random(name[0])


def _any_case(*words: str) -> tuple[str, ...]:
    """Words in small letters, with a capital, and in capitals; as programs write them."""
    return tuple(dict.fromkeys(form for word in words for form in (word, word.capitalize(), word.upper())))


_KEYS: Final = (
    *("_key", "_KEY", "-key", "-Key", "-KEY", "ikey", "skey", "tkey", "ekey", "hkey", "IKEY", "SKEY", "TKEY"),
    *(f"{last}Key" for last in "isehtngrpydkl"),
)
"""A key by itself is too frequent to be looked at each time: these end the words of `_KEY` and begin its last one."""

BY_NAME: Final = (
    Rule(
        "secret",
        "Value of something named token, secret, credential, or key of something",
        (*_any_case("secret", "token", "credential", "_auth"), *_KEYS),
        _assigned(_OF_SECRETS),
        _value_if(shapes.is_secret),
        (
            'api_key: "{d2}{l2}{d2}{26}"',
            "export SERVICE_TOKEN={d2}{l2}{d2}{18}",
            '{"client_secret": "{d2}{l2}{d2}{w34}"}',
            "aws_secret_access_key = {b40}",
            "//npm.example.com/:_authToken={h8}-{h4}-{h4}-{h4}-{h12}",
            "https://example.com/cb?token={d2}{l2}{d2}{14}&state=ok",
            "DefaultEndpointsProtocol=https;AccountKey={b86}==;EndpointSuffix=core",
            'os.environ["APP_SECRET"] = "{d2}{l2}{d2}{18}"',
            'setenv("API_KEY", "{d2}{l2}{d2}{18}")',
            '{"name": "APP_TOKEN", "value": "{d2}{l2}{d2}{18}"}',
            'const apiKey: string = "{d2}{l2}{d2}{26}"',
            "X-Api-Key: {d2}{l2}{d2}{26}",
            'process.env.API_KEY || "{d2}{l2}{d2}{26}"',
            "the token is {d2}{l2}{d2}{26}",
        ),
        (
            "token = tokenizer(text)",
            "api_key = os.environ['API_KEY']",
            "token: <token>",
            "secret: ${{ secrets.DEPLOY_KEY2 }}",
            '"max_tokens": 4096, "input_tokens": "123456"',
            "token_count = 12345678",
            '"token_type": "bearer1234"',
            "API_KEY=your-key-here",
            "API_KEY=xxxxxxxxxxxxxxxx",
            "secretary: Ann12345678",
            "token := parser.next2()",
            "let token = tokens[index1];",
            "primary_key = a1b2c3d4e5f6",
            "the token a1b2c3d4e5f6 is logged",
            "the token is sha256 encoded",
            "CREDENTIAL_ONLY = 0x00000002",
            'publicKeyToken="{h16}"',
            "_IsTokenRestricted = windll.advapi32.IsTokenRestricted",
            "http://localhost:8888/?token=c8de56fa... :: /srv",
            "secret_path: /srv/app/secrets/v2/token1.json",
        ),
        after=raw.SIGN + raw.MIXED,
        edged=False,
        behind=FAR,
    ),
    Rule(
        "secret",
        "The same after an option of a command",
        ("-secret", "-token", "-key"),
        _option(r"secret|token|credential|key"),
        _value_if(shapes.is_secret, of_option=True),
        ("deploy --token {d2}{l2}{d2}{18}", "login --api-key '{d2}{l2}{d2}{26}'", "run -token {d2}{l2}{d2}{18}"),
        ("deploy --token $TOKEN", "run --max-tokens 4096", "the x-token a1b2c3d4e5f6", "sort --key 2a3b4c5d6e"),
        after=rf"[A-Za-z0-9-]*[ \t]+(?:{raw.QUOTE})?{raw.MIXED}",
        edged=False,
        behind=FAR,
    ),
    Rule(
        "password",
        "Value of something named password, passphrase, pwd, pass",
        (*_any_case("password", "passwd", "passphrase", "pwd", "_pass"), "passWord", "PassWord", "-pass"),
        _assigned(_OF_PASSWORDS),
        _value_if(shapes.is_password),
        (
            "password={d2}{10}",
            'DB_PASSWORD="{6}!{4}"',
            '{"password": "{d2}{12}"}',
            "password: {d2}{8}",
            "Server=db;User Id=sa;Password={d2}{12};Encrypt=true",
            "<password>{d2}{10}</password>",
            'password: str = "{d2}{12}"',
            "SMTP_PASS: {d2}{10}",
            "my password is {d2}{l2}{d2}{10}",
        ),
        (
            "password: str",
            "password = getpass.getpass()",
            "password: Optional[str] = None",
            "PASSWORD=$PASS",
            "password=${PASSWORD}",
            "password: '***'",
            "password = user.password2",
            "PWD=/home/ann/project2",
            'oldpwd: "/srv/app1"',
            "password_hash: 12345678",
            "pwd: process.env.PASSWORD1",
            "the password a1b2c3d4",
            "the password is bcrypt2 hashed",
            '["password", "urllib2", "passphrase", "string?"]',
            '"password": "string?"',
        ),
        after=rf"{raw.SIGN}{raw.IN_VALUE}[0-9!@#^&*+~$%]",
        edged=False,
        behind=FAR,
    ),
    Rule(
        "password",
        "The same after an option of a command",
        ("-password", "-passwd", "-passphrase", "-pwd"),
        _option(r"password|passwd|passphrase|pwd|pass"),
        _value_if(shapes.is_password, of_option=True),
        ("tool --password {d2}{10}", "tool --db-password '{d2}{12}'"),
        ("tool --password $PW", "tool --password-stdin 12345678"),
        after=rf"[A-Za-z0-9-]*[ \t]+(?:{raw.QUOTE})?{raw.IN_VALUE}[0-9!@#^&*+~$%]",
        edged=False,
        behind=FAR,
    ),
    Rule(
        "password",
        "The same in a variable of the environment, where any word is one",
        ("PASSWORD", "PASSWD", "PASSPHRASE", "_PASS", "_PWD"),
        r"(?:PASSWORD|PASSWD|PASSPHRASE|_PASS|_PWD)=[\"'`]?([^\x00-\x20\"'`\\<>;|&(){}\[\],]{6,})",
        taken_if(shapes.is_any_word),
        ("PGPASSWORD={l12} psql", "MYSQL_ROOT_PASSWORD={l9}"),
        ("PASSWORD=$1", "DB_PASSWORD=changeme", "DB_PASSWORD=secret", "PASSWORD=<password>"),
        after=rf"=(?:{raw.QUOTE})?[A-Za-z0-9]",
        edged=False,
        behind=FAR,
    ),
)
