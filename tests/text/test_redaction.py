"""Every rule takes its examples and keeps the others, however they are escaped; and records stay records.

Credentials are made up at run time, see `credentials`: none stands in this file.
"""

from __future__ import annotations

import base64
import json
import pickle
import random
import re

import pytest
from credentials import BENIGN, fill, key_lines
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.text.redaction import RULES, RULES_VERSION, Redaction, Rule, redact, unredacted
from workbench.text.redaction.entropy import ENTROPY
from workbench.text.redaction.rule import NEAR, taken_if
from workbench.text.redaction.sieve import SIZES
from workbench.text.redaction.views import View, views

EXAMPLES = [(rule, text) for rule in (*RULES, ENTROPY) for text in rule.taken]
LOOK_ALIKES = [(rule, text) for rule in (*RULES, ENTROPY) for text in rule.kept]
WITH_ENTROPY = Redaction(entropy=True)


def redactor(rule: Rule) -> Redaction:
    return WITH_ENTROPY if rule is ENTROPY else redact


def hidden(text: str) -> str:
    """Every letter and digit of a text written as an escape with a code."""
    return "".join(f"\\u{ord(char):04x}" if char.isalnum() else json.dumps(char)[1:-1] for char in text)


FORMS = {
    "plain": lambda text: text,
    "between words": lambda text: f"see {text} there",
    "at the end of a line": lambda text: f"first\n{text}\r\nlast\n",
    "behind an escaped tab": lambda text: json.dumps({"text": f"a\t{text}\tb"}),
    "in colour": lambda text: json.dumps({"text": f"\x1b[32m{text}\x1b[0m"}),
    "in JSON": lambda text: json.dumps({"type": "user", "message": {"content": [text]}}),
    "as a key of JSON": lambda text: json.dumps({text: 1}),
    "in JSON with escaped slashes": lambda text: json.dumps({"a": text}).replace("/", "\\/"),
    "in JSON in JSON": lambda text: json.dumps({"out": json.dumps({"in": text})}),
    "in JSON in JSON in JSON": lambda text: json.dumps([json.dumps([json.dumps([text])])]),
    "in JSON in JSON with escaped slashes": lambda text: json.dumps({"a": json.dumps([text]).replace("/", "\\/")}),
    "in pretty JSON": lambda text: json.dumps({"a": {"b": text}}, indent=2),
    "in codes": lambda text: f'{{"a": "{hidden(text)}"}}',
    "in codes in JSON": lambda text: json.dumps({"a": f'{{"b": "{hidden(text)}"}}'}),
}


def read_through(text: str) -> str:
    """A text with all its escapes undone, so that nothing can hide."""
    return "\n".join(view.text for view in views(text))


# -- the table ---------------------------------------------------------------------------------------------------------


def name_of(value):
    return getattr(value, "name", value)


@pytest.mark.parametrize(("rule", "template"), EXAMPLES, ids=name_of)
def test_an_example_is_taken_whatever_it_stands_in(rule, template):
    text, secrets = fill(template)
    for form, write in FORMS.items():
        written = write(text)
        clean = redactor(rule).text(written)
        assert f"[REDACTED:{rule.name}]" in clean, form
        assert [secret for secret in secrets if secret in read_through(clean)] == [], form
        assert clean.count("\n") == written.count("\n"), form
        assert redactor(rule).text(clean) == clean, form
        if form.startswith(("in ", "as ", "behind ")):
            json.loads(clean)


@pytest.mark.parametrize(("rule", "template"), LOOK_ALIKES, ids=name_of)
def test_what_looks_alike_stays(rule, template):
    for form, write in FORMS.items():
        written = write(fill(template)[0])
        assert redactor(rule).text(written) is written, form


@pytest.mark.parametrize("seed", range(8))
def test_the_examples_are_taken_with_whatever_is_in_their_gaps(seed):
    for rule, template in EXAMPLES:
        text, secrets = fill(template, seed)
        clean = redactor(rule).text(text)
        assert [secret for secret in secrets if secret in clean] == [], (rule.name, text)


def test_every_rule_says_what_it_is_and_shows_both_sides():
    for rule in (*RULES, ENTROPY):
        assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", rule.name)
        assert rule.about, rule.name
        assert rule.taken, rule.name
        assert rule.kept, rule.name
        assert rule.marks, rule.name


def test_patterns_need_no_look_around():
    from pydantic_core import SchemaValidator, core_schema

    for rule in (*RULES, ENTROPY):
        for pattern in (rule.pattern, rule.after):
            SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))


def test_a_mark_and_what_follows_it_is_found_by_its_beginning():
    """A long value must set its mark off by its beginning, or a cut could hide it."""
    for rule, template in EXAMPLES:
        text, _ = fill(template)
        starts = [place for mark in rule.marks for place in [text.find(mark)] if place >= 0]
        assert any(list(redactor(rule)._sieve.stretches(text[start : start + NEAR].encode())) for start in starts)


# -- where it stands ---------------------------------------------------------------------------------------------------


PLACES = [
    *range(6),
    *(size + shift for size in (*SIZES, 2 * SIZES[0]) for shift in (-NEAR, -41, -20, -4, -1, 0, 1, NEAR)),
    1_000_000,
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("template", ["ghp_{36}", 'api_key: "{d2}{32}"', "sk-ant-api03-{w93}AA", "AKIA{A16}"])
def test_no_cut_of_a_long_line_hides_anything(template, place):
    text, secrets = fill(template)
    line = ("lorem ipsum dolor " * 60_000)[:place] + " " + text + " " + "sit amet, " * 9000
    clean = redact(json.dumps({"text": line}).encode())
    assert b"[REDACTED:" in clean
    assert [secret for secret in secrets if secret.encode() in clean] == []


def test_a_long_credential_goes_whole():
    token = "eyJhbGciOiJIUzI1NiJ9.eyJ" + fill("{w30000}")[0] + "." + fill("{w43}")[0]
    assert redact.text(f'x {token} "y"') == 'x [REDACTED:jwt] "y"'


def test_many_credentials_in_one_line_each_leave_their_own_name():
    line = json.dumps([fill("ghp_{36}", seed)[0] for seed in range(500)])
    assert redact.text(line) == json.dumps(["[REDACTED:github-token]"] * 500)


def test_the_words_around_it_stay():
    token = fill("sk-proj-{w60}")[0]
    assert redact.text(f"use {token}, then go on.") == "use [REDACTED:openai-key], then go on."
    address = fill("postgres://app:{12}@db.example:5432/main?sslmode=require")[0]
    assert redact.text(address) == "postgres://app:[REDACTED:url-password]@db.example:5432/main?sslmode=require"
    pair = fill("Server=db;Password={d2}{12};Encrypt=true")[0]
    assert redact.text(pair) == "Server=db;Password=[REDACTED:password];Encrypt=true"


def test_all_but_the_credential_stays_byte_for_byte():
    token = fill("ghp_{36}")[0]
    before, after = b'{"n": 1.50e+3,  "d": 1, "d": 2, "u": "\\u00e9\\ud83d\\ude00 ', b'",\t"nan": NaN}\r\n{"a" : 1}\n'
    clean = redact(before + token.encode() + after)
    assert clean == before + b"[REDACTED:github-token]" + after


def test_what_holds_nothing_is_given_back_as_it_is():
    data = json.dumps({"text": "nothing to see here", "max_tokens": 4096}).encode()
    assert redact(data) is data
    assert unredacted(data) is data
    assert redact(b"") == b""


@pytest.mark.parametrize(
    "wrap",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: b"\x00\x00" + data + b"\x00",
        lambda data: b"\xff\xfe\x80 " + data + b" \xc3",
        lambda data: "é→字😀 ".encode() + data + "字é".encode(),
        lambda data: "Stra\xdfe ".encode("latin-1") + data,
        lambda data: data + b'\n{"torn": "',
    ],
)
def test_odd_bytes_around_it_do_no_harm(wrap):
    token = fill("ghp_{36}")[0].encode()
    assert redact(wrap(b"a " + token + b" z")) == wrap(b"a [REDACTED:github-token] z")


def test_half_surrogates_pass_through_a_text():
    token = fill("ghp_{36}")[0]
    assert redact.text(f"\ud83d {token} \ude00") == "\ud83d [REDACTED:github-token] \ude00"


def test_a_character_is_never_cut():
    clean = redact.text("pwd=7" + "ü" * 3000)
    assert clean == "pwd=[REDACTED:password]" + "ü" * (len(clean) - 23)


# -- private keys ------------------------------------------------------------------------------------------------------


KEY_FORMS = {
    "plain": lambda lines: "\n".join(lines) + "\n",
    "with CRLF": lambda lines: "\r\n".join(lines) + "\r\n",
    "indented": lambda lines: "key: |\n" + "".join(f"    {line}\n" for line in lines),
    "quoted": lambda lines: "".join(f"> {line}\n" for line in lines),
    "added in a diff": lambda lines: "".join(f"+{line}\n" for line in lines),
    "removed in a diff": lambda lines: "".join(f"-{line}\n" for line in lines),
    "read with line numbers": lambda lines: "".join(f"{number:6}→{line}\n" for number, line in enumerate(lines, 9)),
    "found with line numbers": lambda lines: "".join(f"{number}:{line}\n" for number, line in enumerate(lines, 9)),
    "in a JSON string": lambda lines: json.dumps({"private_key": "\n".join(lines) + "\n"}),
    "in JSON in JSON": lambda lines: json.dumps({"out": json.dumps({"private_key": "\n".join(lines)})}),
    "as a list of lines": lambda lines: json.dumps({"lines": [f"+{line}" for line in lines]}),
    "as a list of lines in JSON": lambda lines: json.dumps({"patch": json.dumps({"lines": lines})}),
    "joined by a program": lambda lines: " +\n".join(f'  "{line}\\n"' for line in lines),
    "on one line": " ".join,
    "without its end": lambda lines: "\n".join(lines[:-2]) + "\n... cut off\n",
    "without its beginning": lambda lines: "cut off ...\n" + "\n".join(lines[2:]) + "\n",
    "read from the middle": lambda lines: "".join(f"{number:6}→{line}\n" for number, line in enumerate(lines[2:], 99)),
    "cut off in a list of lines": lambda lines: json.dumps({"lines": [f"+{line}" for line in lines[2:]]}),
    "cut off in a JSON string": lambda lines: json.dumps({"certificateAndKey": "\n".join(lines[2:])}),
    "cut off in a program": lambda lines: "key=" + " +\n".join(f'  "{line}\\n"' for line in lines[2:]),
}


@pytest.mark.parametrize("form", KEY_FORMS)
@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_no_line_of_a_private_key_is_left(kind, form):
    lines = key_lines(kind)
    written = f"before\n{KEY_FORMS[form](lines)}\nafter"
    clean = redact.text(written)
    assert clean.count("[REDACTED:private-key]") == 1
    assert [line for line in lines if line.strip("-+") in clean.replace("\\/", "/")] == []
    assert clean.count("\n") == written.count("\n")
    assert clean.startswith("before\n")
    assert clean.endswith("\nafter")
    assert redact.text(clean) == clean


@pytest.mark.parametrize("form", [name for name in KEY_FORMS if "JSON" in name or "list" in name])
def test_a_decoded_string_keeps_its_lines(form):
    written = KEY_FORMS[form](key_lines())
    clean = redact.text(written)
    assert read_through(clean).count("\n") == read_through(written).count("\n")
    assert str(json.loads(clean)).count(",") == str(json.loads(written)).count(",")


def test_a_key_has_headers_and_a_checksum():
    lines = key_lines("RSA ")
    encrypted = [lines[0], "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC," + fill("{h32}")[0], "", *lines[1:]]
    clean = redact.text("\n".join(encrypted))
    assert clean.startswith("[REDACTED:private-key]\nProc-Type: 4,ENCRYPTED\n")
    assert [line for line in lines if line in clean] == []
    pgp = [line.replace("KEY-", "KEY BLOCK-") for line in key_lines("PGP ")]
    clean = redact.text("\n".join([pgp[0], "Version: 1", "", *pgp[1:-1], "=aB3d", pgp[-1]]))
    assert clean.split() == ["[REDACTED:private-key]", "Version:", "1"]


def test_a_long_key_far_from_its_mark_goes_whole():
    lines = key_lines(lines=400)
    clean = redact("\n".join(["word " * 20_000, *lines, "word"]).encode())
    assert [line for line in lines if line.encode() in clean] == []
    assert clean.endswith(b"\nword")


# -- what is no credential ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["plain", "in JSON", "in JSON in JSON", "in pretty JSON"])
@pytest.mark.parametrize("kind", BENIGN)
def test_ordinary_things_stay(kind, form):
    written = FORMS[form](BENIGN[kind])
    assert redact.text(written) == written


def test_pictures_and_certificates_stay():
    picture = base64.b64encode(random.Random(7).randbytes(1_500_000)).decode()
    line = json.dumps({"type": "image", "source": {"media_type": "image/png", "data": picture}})
    dashes = "-" * 5
    lines = [
        f"{dashes}BEGIN CERTIFICATE{dashes}",
        *(picture[n : n + 64] for n in range(0, 1280, 64)),
        f"{dashes}END CERTIFICATE{dashes}",
    ]
    for text in (line, "\n".join(lines), json.dumps("\n".join(lines))):
        assert redact.text(text) is text


def test_of_a_picture_hardly_anything_is_looked_at_closely():
    looked_at = []

    class Counting(Redaction):
        def _within(self, text, offset):
            looked_at.append(len(text))
            return super()._within(text, offset)

    picture = base64.b64encode(random.Random(7).randbytes(3_000_000)).decode()
    Counting()(json.dumps({"data": picture}).encode())
    assert sum(looked_at) < len(picture) / 10


def test_what_looks_drawn_by_lot_stays_unless_asked_for():
    text, secrets = fill('blob = "{b44}"')
    assert redact.text(text) is text
    assert secrets[0] not in WITH_ENTROPY.text(text)
    for kind in ("git", "uuids", "ulids", "ids of models", "ids of calls", "hashes", "a lock file", "versions"):
        assert WITH_ENTROPY.text(BENIGN[kind]) == BENIGN[kind]


# -- as a whole --------------------------------------------------------------------------------------------------------


def test_it_can_be_pickled():
    token = fill("ghp_{36}")[0]
    for redaction in (redact, WITH_ENTROPY, Redaction(RULES[:3])):
        again = pickle.loads(pickle.dumps(redaction))
        assert again.text(f"a {token}") == redaction.text(f"a {token}")
        assert [rule.name for rule in again._rules] == [rule.name for rule in redaction._rules]
    assert RULES_VERSION >= 1


def test_only_the_rules_that_were_asked_for_are_tried():
    rules = [rule for rule in RULES if rule.name == "npm-token"]
    text, _ = fill("ghp_{36} npm_{36}")
    assert Redaction(rules).text(text) == text.split()[0] + " [REDACTED:npm-token]"


def test_a_rule_that_fails_is_not_passed_over():
    def fail(_: str) -> bool:
        raise LookupError

    broken = Rule("broken", "", ("secret",), "secret", taken_if(fail), ("secret",))
    with pytest.raises(LookupError):
        Redaction([*RULES, broken])(b"a secret")


def test_findings_name_line_and_rule_and_show_nothing():
    token, key = fill("ghp_{36}")[0], key_lines()
    password = fill("{d2}{12}")[0]
    text = "\n".join(["nothing", f"a {token} b {token} c", *key, json.dumps({"password": password}), ""])
    found = redact.findings(text.encode())
    assert [(each.line, each.rule) for each in found] == [
        (2, "github-token"),
        (2, "github-token"),
        (3, "private-key"),
        (11, "password"),
    ]
    assert found[0].excerpt == "a [REDACTED:github-token] b [REDACTED:github-token] c"
    assert found[3].excerpt == '{"password": "[REDACTED:password]"}'
    assert redact.findings(b"nothing\n") == []


def test_an_excerpt_stays_on_its_line_and_short():
    token = fill("ghp_{36}")[0]
    (found,) = redact.findings(f"{'a ' * 500}{token}{' z' * 500}\nnext".encode())
    assert found.excerpt.startswith("a a a")
    assert found.excerpt.endswith("z z z")
    assert len(found.excerpt) < 120


WORDS = st.sampled_from(
    [*BENIGN.values(), "\\", '"', "\\n", "\n", " ", "\t", "é字😀", "\\\\", "/", "{", "}", ",", ":", "'", "\ud83d"]
)
CREDENTIALS = st.builds(fill, st.sampled_from([text for rule in RULES for text in rule.taken]), st.integers(0, 99))
KEYS = st.builds(lambda seed: ("\n".join(key_lines(seed=seed)), key_lines(seed=seed)[1:-1]), st.integers(0, 99))
CUT_KEYS = st.builds(
    lambda seed, length: ("\n".join(key_lines(seed=seed))[:length], []), st.integers(0, 99), st.integers(40, 400)
)
PIECES = st.lists(st.one_of(WORDS.map(lambda text: (text, [])), CREDENTIALS, KEYS, CUT_KEYS), max_size=8)


def nested(pieces: list[tuple[str, list[str]]], chance: random.Random) -> dict[str, object]:
    """A value of JSON with the pieces in strings and keys of it, some of them JSON themselves."""
    value: dict[str, object] = {"n": 1, "list": []}
    text = ""
    for number, (piece, _) in enumerate(pieces):
        text += chance.choice([" ", "\n", ""]) + piece
        where = chance.randrange(4)
        if where == 0:
            value[f"k{number}"] = text
        elif where == 1:
            value[text] = number
        elif where == 2:
            value["list"] = [value["list"], text]
        else:
            value[f"k{number}"] = json.dumps({"in": text, "n": number})
        text = "" if chance.random() < 0.5 else text
    return value


def shape(value: object) -> object:
    """What a value is made of, its strings apart; strings that are JSON keep theirs."""
    if isinstance(value, dict):
        return [shape(each) for each in value.values()]
    if isinstance(value, list):
        return [shape(each) for each in value]
    if isinstance(value, str) and value.startswith('{"in"'):
        return shape(json.loads(value))
    return type(value)


@settings(max_examples=300, deadline=None)
@given(PIECES, st.integers(0, 2**32), st.booleans())
def test_records_stay_records(pieces, seed, ascii_only):
    chance = random.Random(seed)
    records = [nested(pieces, chance), {"last": "record"}]
    lines = [json.dumps(record, ensure_ascii=ascii_only) for record in records]
    data = "\n".join(lines).encode("utf-8", "surrogatepass") + b"\n"
    clean = redact(data)
    assert clean.count(b"\n") == data.count(b"\n")
    assert clean.endswith(lines[-1].encode() + b"\n")
    after = [json.loads(line) for line in clean.decode("utf-8", "surrogatepass").splitlines()[: len(lines)]]
    keys = len(records[0])
    if len(after[0]) == keys:  # otherwise two keys have become alike
        assert shape(after[0]) == shape(records[0])
    assert redact(clean) == clean


class LookingAtAllOfIt(Redaction):
    """Slow and simple: no window, no cut."""

    def _around(self, data, *_):
        return [*self._within(data.decode("latin-1"), 0)], len(data)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=4), st.integers(0, 2**32), st.integers(0, 3000))
def test_a_window_shows_what_the_whole_shows(texts, seed, between):
    chance = random.Random(seed)
    filling = json.dumps({"t": ("lorem ipsum, " * 300)[:between]}).encode() + b"\n"
    lines = [json.dumps(nested(pieces, chance)).encode() + b"\n" for pieces in texts]
    data = filling + filling.join(lines) + filling
    assert redact(data) == LookingAtAllOfIt()(data)


@settings(max_examples=200, deadline=None)
@given(PIECES, PIECES, st.integers(0, 2**32))
def test_what_is_appended_changes_nothing_before(first, second, seed):
    """A file that grows has to begin as it did, or its archived content would count as another one."""
    chance = random.Random(seed)
    before, after = (json.dumps(nested(pieces, chance)).encode() + b"\n" for pieces in (first, second))
    assert redact(before + after) == redact(before) + redact(after)


@settings(max_examples=200, deadline=None)
@given(PIECES)
def test_a_text_is_redacted_like_the_bytes_of_a_file(pieces):
    text = " ".join(piece for piece, _ in pieces)
    assert redact.text(text).encode("utf-8", "surrogatepass") == redact(text.encode("utf-8", "surrogatepass"))


@settings(max_examples=100, deadline=None)
@given(PIECES, st.integers(0, 40_000))
def test_where_it_stands_in_a_file_makes_no_difference(pieces, place):
    text = " ".join(piece for piece, _ in pieces)
    filling = ("lorem ipsum, " * 4000)[:place] + "\n"
    assert redact.text(filling + text + "\n" + filling) == filling + redact.text(text + "\n") + filling


@settings(max_examples=500)
@given(st.text('\\\\\\un0041tr"/ab\n', max_size=30))
def test_a_view_knows_where_it_comes_from(text):
    below = View(text)
    view = below.unescaped()
    if view is None:
        assert "\\" not in text
        return
    for place in range(len(view.text)):
        start, end = view._down(place), view._down(place + 1)
        piece = text[start:end]
        assert piece == view.text[place] if len(piece) == 1 else piece.startswith("\\")
        assert start < end


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"a\nb", "a\nb"),
        (r"a\\nb", r"a\nb"),
        (r"\u0041\/\"\\", 'A/"\\'),
        (r"\ud83d\ude00", "\xff\xff"),
        ("ends in \\", "ends in "),
        (r"\u00zz", "u00zz"),
    ],
)
def test_escapes_are_undone(written, read):
    assert View(written).unescaped().text == read
