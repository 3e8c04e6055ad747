from __future__ import annotations

import polars as pl
import pytest

from workbench.errors import BadInputError
from workbench.store.aside import keep_copies, kept_copies
from workbench.text.ids import content_hash
from workbench.vault.fix.apply import apply_fixes, put_back
from workbench.vault.fix.proposals import SCHEMA


@pytest.fixture
def vault(tmp_path):
    folder = (tmp_path / "vault").resolve()
    folder.mkdir()
    return folder


def row(path, place, found, link, **more):
    return {
        "kind": "broken_link",
        "path": path,
        "place": place,
        "line": 1,
        "found": found,
        "proposed_path": f"{link}.md",
        "proposed_link": link,
        "confidence": 1.0,
        "rule": "r",
        "is_writable": True,
        **more,
    }


def fix(vault, rows, *, is_dry_run=False, hashes=None):
    known = {each["path"]: content_hash((vault / each["path"]).read_bytes()) for each in rows}
    home = vault.parent / "home"
    frame = pl.DataFrame(rows, schema=SCHEMA)
    keep = lambda files, about: keep_copies(home, files, about)  # noqa: E731
    return apply_fixes(vault, frame, hashes or known, keep, is_dry_run=is_dry_run)


def outcomes(done):
    return done.proposals.select("outcome", "reason").rows()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a [[Old]]\r\nb\r", b"a [[New]]\r\nb\r"),
        (b"\xef\xbb\xbf[[Old]]\n", b"\xef\xbb\xbf[[New]]\n"),
        (b"\xff\xfe" + "é [[Old]]".encode("utf-16-le"), b"\xff\xfe" + "é [[New]]".encode("utf-16-le")),
        ("e\u0301 [[Old]] \0".encode(), "e\u0301 [[New]] \0".encode()),
    ],
)
def test_every_other_byte_stays(vault, before, after):
    (vault / "n.md").write_bytes(before)
    done = fix(vault, [row("n.md", 0, "Old", "New")])
    assert (vault / "n.md").read_bytes() == after
    assert (outcomes(done), done.files) == ([("applied", None)], 1)


def test_a_dry_run_writes_nothing_at_all(vault):
    (vault / "n.md").write_text("[[Old]]")
    done = fix(vault, [row("n.md", 0, "Old", "New")], is_dry_run=True)
    assert (outcomes(done), done.files, done.copies) == ([("proposed", None)], 0, None)
    assert (vault / "n.md").read_text() == "[[Old]]"
    assert not (vault.parent / "home").exists()


def test_copies_are_kept_first_and_put_back_what_was(vault):
    for name in ("a.md", "b.md"):
        (vault / name).write_text(f"[[Old]] in {name}")
    done = fix(vault, [row("a.md", 0, "Old", "New"), row("b.md", 0, "Old", "New")])
    about, copies = kept_copies(done.copies)
    assert copies == {"a.md": b"[[Old]] in a.md", "b.md": b"[[Old]] in b.md"}
    (vault / "b.md").write_text("edited since")
    assert put_back(vault, about, copies) == {"a.md": None, "b.md": "it was changed since"}
    assert ((vault / "a.md").read_text(), (vault / "b.md").read_text()) == ("[[Old]] in a.md", "edited since")
    with pytest.raises(BadInputError, match="the copies are of the vault"):
        put_back(vault.parent, about, copies)


def test_a_file_that_changed_since_the_index_is_refused(vault):
    (vault / "n.md").write_text("[[Old]]")
    done = fix(vault, [row("n.md", 0, "Old", "New")], hashes={"n.md": "other"})
    assert outcomes(done) == [("refused", "the file changed since it was indexed: index the vault again")]
    assert (vault / "n.md").read_text() == "[[Old]]"


@pytest.mark.parametrize(
    ("content", "more", "reason"),
    [
        (b"[[Old]] \xff", {}, "the file is no UTF-8: invalid start byte"),
        (b"[[Else]]", {}, "there is no link 'Old' where the index has it"),
        (b"[[Old]]", {"is_writable": False}, "nothing under _archive/ is written"),
    ],
)
def test_what_cannot_be_edited_is_refused_and_hides_no_other(vault, content, more, reason):
    (vault / "n.md").write_bytes(content)
    (vault / "z.md").write_text("[[Old]]")
    done = fix(vault, [row("n.md", 0, "Old", "New", **more), row("z.md", 0, "Old", "New")])
    assert outcomes(done) == [("refused", reason), ("applied", None)]
    assert (vault / "n.md").read_bytes() == content


def test_a_link_out_of_the_vault_is_not_written_through(vault):
    outside = vault.parent / "outside.md"
    outside.write_text("[[Old]]")
    (vault / "n.md").symlink_to(outside)
    done = fix(vault, [row("n.md", 0, "Old", "New")])
    assert outcomes(done) == [("refused", f"the file lies outside of the vault, at {outside.resolve()}: edit it there")]
    assert outside.read_text() == "[[Old]]"


def test_names_of_one_file_stay_names_of_one_file_and_the_mode_stays(vault):
    (vault / "n.md").write_text("[[Old]] and more text")
    (vault / "other.md").hardlink_to(vault / "n.md")
    (vault / "m.md").write_text("[[Old]]")
    (vault / "m.md").chmod(0o640)
    fix(vault, [row("n.md", 0, "Old", "New"), row("m.md", 0, "Old", "New")])
    assert (vault / "other.md").read_text() == "[[New]] and more text"
    assert (vault / "n.md").stat().st_ino == (vault / "other.md").stat().st_ino
    assert (vault / "m.md").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in vault.iterdir()) == ["m.md", "n.md", "other.md"]


def test_a_parent_is_added_to_the_front_matter_beside_a_replaced_link(vault):
    (vault / "n.md").write_text("[[Old]]\n")
    added = row("n.md", None, None, "[[Home]]", kind="orphan", line=None)
    fix(vault, [row("n.md", 0, "Old", "New"), added])
    assert (vault / "n.md").read_text() == '---\nlinks:\n  - "[[Home]]"\n---\n[[New]]\n'


def test_nothing_is_written_where_no_copy_can_be_kept(vault):
    (vault / "n.md").write_text("[[Old]]")
    frame = pl.DataFrame([row("n.md", 0, "Old", "New")], schema=SCHEMA)

    def full(_files, _about):
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        apply_fixes(vault, frame, {"n.md": content_hash(b"[[Old]]")}, full, is_dry_run=False)
    assert (vault / "n.md").read_text() == "[[Old]]"
