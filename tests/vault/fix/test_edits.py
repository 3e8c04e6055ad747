from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.vault.fix.edits import RefusedError, Replacement, replaced, with_link
from workbench.vault.parser import parse_note


def one(text, raw, name="New", path="n/New.md", place=0, note="n/Here.md"):
    return replaced(text, note, [Replacement(place, raw, name, path)])


@pytest.mark.parametrize(
    ("text", "raw", "after"),
    [
        ("a [[Old]] b", "Old", "a [[New]] b"),
        ("[[Old#Part|shown Old]]\r\nOld", "Old#Part|shown Old", "[[New#Part|shown Old]]\r\nOld"),
        ("![[Old^b]]", "Old^b", None),
        ("| [[Old\\|x]] |", "Old\\|x", "| [[New\\|x]] |"),
        ("---\nup: '[[Old]]'\n---\n", "Old", "---\nup: '[[New]]'\n---\n"),
        ('[Old](Old.md#part "Old")', "Old.md#part", '[Old](New.md#part "Old")'),
        ("![x](<a Old.md>)", "a Old.md", "![x](<New.md>)"),
        ("`[[Old]]` [[Old]]", "Old", "`[[Old]]` [[New]]"),
    ],
)
def test_the_name_alone_is_replaced(text, raw, after):
    if after is None:
        assert one(text, raw) == "![[New]]"  # a name with ^ and no # is a name
    else:
        assert one(text, raw) == after


def test_a_markdown_link_leads_from_the_folder_of_its_note():
    assert one("[a](x.md)", "x.md", path="other/Né w.md") == "[a](../other/N%C3%A9%20w.md)"
    assert one("[a](x.md)", "x.md", path="Top.md", note="Here.md") == "[a](Top.md)"


def test_several_links_of_a_note_are_replaced_at_once():
    text = "[[A]] [[B]] [[A]]"
    wanted = [Replacement(0, "A", "Longer Name", "x.md"), Replacement(2, "A", "Z", "z.md")]
    assert replaced(text, "n.md", wanted) == "[[Longer Name]] [[B]] [[Z]]"


@pytest.mark.parametrize(
    ("text", "raw", "name", "told"),
    [
        ("[[Other]]", "Old", "New", "there is no link 'Old' where the index has it"),
        ("none", "Old", "New", "there is no link"),
        ("[[Old]]", "Old", "C#", "a wikilink cannot hold the name 'C#'"),
        ("[a][r]\n\n[r]: Old.md\n", "Old.md", "New", "is written elsewhere in the note"),
    ],
)
def test_what_cannot_be_replaced_is_refused(text, raw, name, told):
    with pytest.raises(RefusedError, match=told):
        one(text, raw, name=name)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("text\n", '---\nlinks:\n  - "[[P]]"\n---\ntext\n'),
        ("text\r\n", '---\r\nlinks:\r\n  - "[[P]]"\r\n---\r\ntext\r\n'),
        ("", '---\nlinks:\n  - "[[P]]"\n---\n'),
        ("---\ntags: [a]\n---\nx", '---\ntags: [a]\nlinks:\n  - "[[P]]"\n---\nx'),
        ("---\nlinks:\n    - '[[A]]'\nz: 1\n---\n", "---\nlinks:\n    - '[[A]]'\n    - \"[[P]]\"\nz: 1\n---\n"),
        ("---\nlinks:\n- a\n---\n", '---\nlinks:\n- a\n- "[[P]]"\n---\n'),
        ("---\nlinks: ['[[A]]']\n---\n", "---\nlinks: ['[[A]]', \"[[P]]\"]\n---\n"),
        ("---\nlinks: []\n---\n", '---\nlinks: ["[[P]]"]\n---\n'),
        ("---\nlinks: '[[A]]'\n---\n", "---\nlinks: ['[[A]]', \"[[P]]\"]\n---\n"),
        ("---\nlinks:\n---\n", '---\nlinks:\n  - "[[P]]"\n---\n'),
        ("---\r\nlinks:\r\n  - a\r\n---\r\nx", '---\r\nlinks:\r\n  - a\r\n  - "[[P]]"\r\n---\r\nx'),
    ],
)
def test_a_link_is_added_in_the_form_that_the_property_has(before, after):
    assert with_link(before, "[[P]]") == after
    assert with_link(after, "[[P]]") == after  # never twice


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("---\na: [b\n---\n", "the front matter cannot be read"),
        ("---\ra: 1\r---\rtext", "lines end in a carriage return alone"),
        ("---\nlinks: >\n  folded\n  text\n---\n", "in a form that is not edited: add"),
        ("---\nlinks: {a: 1}\n---\n", "the property 'links' is no list: add"),
    ],
)
def test_front_matter_that_would_not_say_it_afterwards_is_refused(before, told):
    with pytest.raises(RefusedError, match=told):
        with_link(before, "[[P]]")


PIECES = st.lists(
    st.sampled_from(["[[Old]]", "[[Other|x]]", "![[Old#h]]", "`[[Old]]`", "\n", "\r\n", " word ", "é", "```\n", "%%"]),
    max_size=12,
).map("".join)


@settings(deadline=None)
@given(PIECES)
def test_only_the_link_that_is_meant_changes(text):
    links = parse_note(text, "n.md").links
    for place, each in enumerate(links):
        after = replaced(text, "n.md", [Replacement(place, each.link.raw, "Fresh", "Fresh.md")])
        again = [link.link.target for link in parse_note(after, "n.md").links]
        assert again == [
            *(link.link.target for link in links[:place]),
            "Fresh",
            *(link.link.target for link in links[place + 1 :]),
        ]
        assert len(after) == len(text) + len("Fresh") - len(each.link.target)
