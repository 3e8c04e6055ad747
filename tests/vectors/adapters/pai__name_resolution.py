from __future__ import annotations

import posixpath

from workbench.vault.names import NamedFiles, NameIndex


def run(case_input):
    """The note that a name means; a folder or a picture is none."""
    index = NameIndex(NamedFiles(case_input["vault_paths"]))
    found = index.find(case_input["target"], case_input["source_path"])
    return found.path if found and found.kind in ("note", "self") else None


def is_relative(case_input):
    return case_input["target"].startswith(("./", "../"))


def names_a_folder_that_no_such_note_is_in(case_input):
    target = case_input["target"]
    return "/" in target.strip("/") and not is_relative(case_input) and not ending_so(case_input)


def from_the_folder_of_the_note(case_input):
    """The note at the path that the name says, taken from the folder of the one that says it."""
    folder = posixpath.dirname(case_input["source_path"])
    wanted = posixpath.normpath(posixpath.join(folder, case_input["target"])).lower()
    return next((p for p in case_input["vault_paths"] if p.lower() in (wanted, f"{wanted}.md")), None)


def nothing(case_input):
    assert ending_so(case_input) == []


def ending_so(case_input):
    wanted = case_input["target"].lower().removesuffix(".md")
    paths = [path.lower().removesuffix(".md") for path in case_input["vault_paths"]]
    return [path for path in paths if path == wanted or path.endswith(f"/{wanted}")]
