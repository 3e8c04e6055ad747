"""The note graph: a vault's notes and links as a picture to walk in; choosing a note shows its text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anywidget
import traitlets

from workbench.errors import WorkbenchError
from workbench.reports.note_map import COLOURS, SIZES, NoteMap, NoteText
from workbench.reports.vault_frames import AskedVault, VaultFrames, note_text, picture_of, read_vault
from workbench.widgets.scripts import script, style

MOST_STEPS: Final = 3
"""Steps around the chosen note that can be shown; as in note_graph.js."""

Read = Callable[[str], NoteText]
"""Reads a note, given its path."""


class VaultGraph(anywidget.AnyWidget):
    """A vault to look through.

    Click a note, or walk with the arrow keys and press Enter, and it appears beside the picture; its path is `chosen`
    here. `/` searches titles and paths, a key of the legend shows where a group is, `s` changes the steps around the
    chosen note that are in focus, `o` hides the rest.

    Args:
        picture: What to draw.
        read: Where a note's text comes from; without it only its links are shown.

    Attributes:
        data: `picture` as plain values.
        chosen: Path of the chosen note; empty where none is. Setting it chooses.
        query: What is searched for.
        colour: `theme`, `folder` or `community`.
        size: `links` or `pagerank`.
        steps: Steps around the chosen note that are in focus; 0 for no such focus.
        detail: The text of the chosen note, from `read`.
    """

    _esm = script("note_canvas", "note_graph")
    _css = style("note_graph")

    data = traitlets.Dict().tag(sync=True)
    chosen = traitlets.Unicode("").tag(sync=True)
    query = traitlets.Unicode("").tag(sync=True)
    colour = traitlets.Enum(COLOURS, default_value="folder").tag(sync=True)
    size = traitlets.Enum(SIZES, default_value="links").tag(sync=True)
    steps = traitlets.Int(1, min=0, max=MOST_STEPS).tag(sync=True)
    detail = traitlets.Dict().tag(sync=True)

    def __init__(self, picture: NoteMap, read: Read | None = None) -> None:
        self._read = read
        first = next((name for name in COLOURS if name in picture.groupings), "folder")
        super().__init__(data=picture.plain(), colour=first)
        self.observe(self._choose, "chosen")

    @classmethod
    def of(cls, vault: AskedVault, frames: VaultFrames | None = None) -> VaultGraph:
        """The graph of one vault; a chosen note's text is read from the index.

        Args:
            vault: From `bench.vault(path)`, indexed.
            frames: What was read of it already.

        Raises:
            NotFoundError: It was never indexed.
        """
        told = read_vault(vault) if frames is None else frames
        return cls(picture_of(told), lambda path: note_text(vault, told.notes, path))

    def _choose(self, _: object) -> None:
        """Read the chosen note; what goes wrong is told in the place of its text."""
        if not self.chosen or self._read is None:
            self.detail = {}
            return
        try:
            self.detail = self._read(self.chosen).plain()
        except WorkbenchError as error:
            self.detail = NoteText(self.chosen, (), "", str(error)).plain()
