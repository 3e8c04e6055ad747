import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from workbench.vault.code import HIDDEN, hide_code
from workbench.vault.parser import parse_note

MARKS = [
    "---\n",
    "```\n",
    "~~~\n",
    "`",
    "``",
    "[[",
    "]]",
    "![[",
    "|",
    "\\",
    "#",
    "^",
    "[",
    "](",
    ")",
    "<",
    ">",
    "::",
    "- ",
    "> ",
]
WORDS = [
    "a",
    "北京",
    "key",
    "1",
    "é",
    "👩‍💻",
    "x.md",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    ":",
    "%20",
    "%E0",
    "&amp;",
    "$",
    "{{",
    "}}",
]
notes = st.lists(st.sampled_from(MARKS + WORDS) | st.text(max_size=3), max_size=60).map("".join)


def links(text):
    return [(each.line, each.link.syntax, each.link.target) for each in parse_note(text, "n.md").links]


@settings(deadline=None)
@given(notes)
def test_nothing_is_too_odd_to_be_read_and_all_lines_are_lines_of_the_note(text):
    note = parse_note(text, "folder/n.md")
    last = len(re.findall("\r\n|\r|\n", text)) + 1
    lines = [each.line for each in (*note.links, *note.tags, *note.headings, *note.blocks, *note.fields)]
    assert all(1 <= line <= last for line in lines)
    assert [each.link for each in note.links if not each.link.target.strip()] == []
    assert json.loads(json.dumps([each.value for each in note.fields])) == [each.value for each in note.fields]


@settings(deadline=None)
@given(notes)
def test_hiding_code_moves_nothing(text):
    text = text.replace("\r", "").replace("\0", "")
    hidden = hide_code(text)
    assert len(hidden) == len(text)
    assert all(new in (old, HIDDEN) for old, new in zip(text, hidden, strict=True))
    assert hidden.count("\n") == text.count("\n")


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["```", "~~~~", "`a`", "``b` c``", "[[L]]", "text", "- item", "  more", "> said", "", "1. one"]
        ),
        max_size=12,
    )
)
def test_what_is_code_is_what_commonmark_says(lines):
    text = "\n".join(lines) + "\n"
    code = []
    for token in MarkdownIt("commonmark").disable(["code", "html_block", "reference"]).parse(text):
        code += [token] if token.type == "fence" else []
        code += [child for child in token.children or () if child.type == "code_inline"]
    wanted = sum(token.content.count("[[L]]") for token in code)
    assert text.count("[[L]]") - hide_code(text).count("[[L]]") == wanted


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[A]] ![[B.png|100]]", [(1, "wikilink", "A"), (1, "embed", "B.png")]),
        ("\\[[A]] \\\\[[B]] !\\[[C]]", [(1, "wikilink", "B")]),
        ("[[A\n]] [[]] [[ ]] [[#h]] [[|x]]", []),
        ("[a [[In]] b](c.md)", [(1, "wikilink", "In")]),
        ("[![alt](p.png)](n.md)", [(1, "md_link", "n.md"), (1, "md_embed", "p.png")]),
        ("[a](<b c.md> 'title') [d](e(f).md)", [(1, "md_link", "b c.md"), (1, "md_link", "e(f).md")]),
        ("[a](https://x.org/y.md) [b](mailto:x@y) [c](//host/x) [d](#h) [e]()", []),
        ("[a][r] [r][] [r] [other]\n\n[r]: x.md", [(1, "md_link", "x.md")] * 3),
        ("[^1] and\n\n[^1]: note.md", []),
        ("[a](b\n\nc.md)", []),
        ("%% [[Comment]] %%\n<!-- [[Html]] -->", [(1, "wikilink", "Comment"), (2, "wikilink", "Html")]),
        (
            "    [[Indented]]\r\n\r\n[[Crlf]]\r[[Cr]]",
            [(1, "wikilink", "Indented"), (3, "wikilink", "Crlf"), (4, "wikilink", "Cr")],
        ),
        ("- ```\n  [[code]]\n[[left the item]]", [(3, "wikilink", "left the item")]),
        ("> ```\n> [[code]]\n[[left the quote]]", [(3, "wikilink", "left the quote")]),
        ("`a\n\n[[not code]] `b", [(3, "wikilink", "not code")]),
        ("```\n[[never closed]]", []),
        ("---\nup: ![[P]]\nmd: '[x](y.md)'\n---\n[[Q]]", [(2, "wikilink", "P"), (5, "wikilink", "Q")]),
    ],
)
def test_links(text, found):
    assert links(text) == found


def test_a_link_says_heading_block_and_what_is_shown():
    found = [each.link for each in parse_note("[[A#H#Sub|t]] [[A#^b1]] [[A#H^x]] [t](a%23b.md#c%20d)", "n.md").links]
    assert [(each.target, each.heading, each.block, each.display) for each in found] == [
        ("A", "H#Sub", None, "t"),
        ("A", None, "b1", None),
        ("A", "H^x", None, None),
        ("a#b.md", "c d", None, "t"),
    ]


def test_a_link_knows_the_field_whose_value_begins_on_the_next_line():
    note = parse_note("---\nup:\n  - '[[A]]'\n  - '[[B]]'\nrelated:\r\n- '[[C]]'\nnext:\t'[[D]]'\n---\n[[E]]\n", "n.md")
    told = [(each.link.target, each.key) for each in note.links]
    assert told == [("A", "up"), ("B", "up"), ("C", "related"), ("D", "next"), ("E", None)]


def test_a_link_knows_the_field_it_stands_in():
    note = parse_note("---\nup: [[A]]\nrelated:\n  - '[[B]]'\n---\nnext:: [[C]]\n[[D]] [prev:: [[E]]]\n", "n.md")
    assert [(each.link.target, each.key) for each in note.links] == [
        ("A", "up"),
        ("B", "related"),
        ("C", "next"),
        ("D", None),
        ("E", "prev"),
    ]


def test_titles_come_from_the_front_matter_the_first_heading_or_the_file():
    assert parse_note("---\ntitle: T\n---\n# H", "f.md").title == "T"
    assert parse_note("```\n# code\n```\n## Two\n# H ##\n", "f.md").title == "H"
    assert parse_note("Under\n===\n", "f.md").title == "Under"
    assert parse_note("text", "folder/f.1.md").title == "f.1"


def test_headings_blocks_and_fields():
    code = "```\n# code ^id-2\nk:: v\n```\n"
    text = f"# A #\n\nB\n---\n\ntext ^id-1\n\n{code}- [x] **due**:: 2025-01-02\nA (rated:: 5) one.\nx::y\n"
    note = parse_note(text, "n.md")
    assert [tuple(each) for each in note.headings] == [(1, 1, "A"), (3, 2, "B")]
    assert [tuple(each) for each in note.blocks] == [("id-1", 6)]
    assert [(each.key, each.value, each.line) for each in note.fields] == [
        ("due", "2025-01-02", 12),
        ("rated", "5", 13),
        ("x", "y", 14),
    ]


@pytest.mark.parametrize(
    ("block", "values", "issues"),
    [
        ("a: 1\nb: [x, 2]\nc: 2024-05-06\nd: null", {"a": 1, "b": ["x", 2], "c": "2024-05-06", "d": None}, []),
        ("a: .inf\nb: 99999999999999999999", {"a": "inf", "b": "99999999999999999999"}, []),
        ("a: {{x}}\nb: 1", {"a": None, "b": 1}, [2]),
        ("created: 2024-13-45\nb: 1", {"created": None, "b": 1}, [2]),
        ("a: &x [*x]\nb: 1", {"a": None, "b": 1}, [2]),
        ("a: 1\na: 2", {"a": 2}, [3]),
        ("a: x: y", {}, [2]),
        ("\tb: 1", {}, [2]),
        ("just text", {}, [2]),
        ("a: !!python/object:os.system x\nb: 1", {"a": None, "b": 1}, [2]),
        ("[" * 5000, {}, [2]),
        ("a: " + "[" * 90 + "]" * 90, None, []),
    ],
)
def test_bad_front_matter_costs_itself_alone(block, values, issues):
    note = parse_note(f"---\n{block}\n---\n[[Kept]] #kept\n", "n.md")
    assert values is None or {each.key: each.value for each in note.fields} == values
    assert [each.line for each in note.issues] == issues
    assert ([each.link.target for each in note.links], [each.tag for each in note.tags]) == (["Kept"], ["kept"])


@pytest.mark.parametrize(
    ("text", "issues"),
    [
        ("---\ntitle: x\n\n[[Kept]]", [1]),
        ("---\r\ntags:\r\n[[Kept]]", [1]),
        ("---\n[[Kept]] after a rule", []),
        ('---\nsaid: "[[Kept]]"\n---\n', []),
        ("text\n---\ntitle: x\n[[Kept]]", []),
    ],
)
def test_front_matter_that_is_never_closed_is_told_and_read_as_text(text, issues):
    note = parse_note(text, "n.md")
    assert [each.line for each in note.issues] == issues
    assert [each.link.target for each in note.links] == ["Kept"]


def test_references_of_yaml_do_not_blow_up():
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    note = parse_note(f"---\n{bomb}---\nbody", "n.md")
    assert {each.key: each.value is None for each in note.fields}["i"]
    assert "20,000" in note.issues[0].detail


def test_tags_and_aliases_of_every_form():
    front = "---\ntags: 'a, #b c'\naliases: [One, 2]\nalias: Three, One\n---\n"
    note = parse_note(front + "#B #x/y #1 [#no](u#no) <b title='#no'> [[n #no]] `#no`\n", "n.md")
    assert [(each.tag, each.origin, each.line) for each in note.tags] == [
        ("a", "front_matter", 2),
        ("b", "front_matter", 2),
        ("c", "front_matter", 2),
        ("b", "inline", 6),
        ("x/y", "inline", 6),
    ]
    assert list(note.aliases) == ["One", "2", "Three"]


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "![[",
        "](",
        "](a",
        "[[a|",
        "`",
        "``` ",
        "> ",
        "- ",
        "#",
        "a:: ",
        "[^",
        "<",
        "\\",
        "[a]: x\n",
        "((",
        "^",
        "\n",
        "a\n=\n",
        "[a](",
        '[a](b "',
    ],
)
def test_a_long_note_of_one_mark_takes_no_longer_than_its_length(unit):
    begin = time.perf_counter()
    parse_note(unit * (200_000 // len(unit)), "n.md")
    assert time.perf_counter() - begin < 10
