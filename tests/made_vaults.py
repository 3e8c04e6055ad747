"""Indexed vaults for tests: the sample notes with vectors by words, and one in which every text is hostile."""

import shutil

from hostile_sessions import HOSTILE
from search.word_embedder import WordEmbedder

import workbench as wb
from workbench.surfaces.shipped import sample_vault


def sample(home, folder):
    """A copy of the sample notes, indexed, each note with a vector."""
    shutil.copytree(sample_vault(), folder)
    return embedded(wb.open(home).vault(folder))


def embedded(vault):
    vault._note_search.__dict__["embedder"] = WordEmbedder()
    vault.index()
    vault.embed()
    return vault


def hostile(home, folder):
    """Notes whose titles, texts, tags and links are hostile; their files have plain names."""
    folder.mkdir()
    for number, text in enumerate(HOSTILE):
        front = f"---\ntags: [{number % 3}x, '{text[:20].translate(_PLAIN)}']\n---\n"
        links = f"[[{number - 1}]] [[{text.translate(_PLAIN)} gone]]"
        (folder / f"{number}.md").write_text(
            f"{front}# {text}\n\n{text} shared words of all notes\n\n{links}\n", "utf-8"
        )
    return embedded(wb.open(home).vault(folder))


_PLAIN = {ord(letter): "_" for letter in "'[]\n\x00|#^\x1b\x07\b\x7f\x9b"}
