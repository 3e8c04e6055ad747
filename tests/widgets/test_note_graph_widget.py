"""The note graph on the side of Python: what it is given, and what a choice brings."""

import polars as pl
import pytest
from traitlets import TraitError

from workbench.errors import NotFoundError
from workbench.reports.note_map import NoteText, note_map
from workbench.widgets import VaultGraph

NOTES = pl.DataFrame({"path": ["a.md", "b.md"], "title": ["A", "B"], "folder": [None, None], "theme": ["t", None]})
LINKS = pl.DataFrame({"source_path": ["a.md"], "target_path": ["b.md"]})


def read(path):
    if path == "b.md":
        raise NotFoundError("b.md vanished; index the vault again")
    return NoteText(path, (("words", "3"),), "the text")


@pytest.fixture
def widget():
    return VaultGraph(note_map(NOTES, LINKS, title="vault"), read)


def test_it_is_given_the_picture(widget):
    assert (widget.data["paths"], widget.data["links"]) == (["a.md", "b.md"], [0, 1])
    assert (widget.chosen, widget.query, widget.colour, widget.size, widget.steps) == ("", "", "theme", "links", 1)


def test_the_first_known_grouping_colours_it():
    assert VaultGraph(note_map(NOTES.drop("theme"), LINKS, title="x")).colour == "folder"


def test_a_choice_brings_the_text(widget):
    widget.chosen = "a.md"
    assert widget.detail == {"path": "a.md", "facts": [["words", "3"]], "text": "the text", "problem": ""}
    widget.chosen = ""
    assert widget.detail == {}


def test_what_cannot_be_read_is_told_in_its_place(widget):
    widget.chosen = "b.md"
    assert (widget.detail["problem"], widget.detail["text"]) == ("b.md vanished; index the vault again", "")


def test_without_a_reader_nothing_is_read():
    widget = VaultGraph(note_map(NOTES, LINKS, title="x"))
    widget.chosen = "a.md"
    assert widget.detail == {}


def test_it_refuses_what_it_does_not_know(widget):
    for name, value in (("colour", "taste"), ("size", "weight"), ("steps", 4)):
        with pytest.raises(TraitError):
            setattr(widget, name, value)
