"""The vault report: from an indexed vault to a page; what it says is missing, hostile text, and its manifest."""

import json
import shutil
import subprocess
from datetime import UTC, datetime

import made_vaults
import polars as pl
import pytest
from report_pages import FRAME, Page

import workbench as wb
from workbench.errors import BadInputError, NotFoundError, StoreError
from workbench.reports.note_map import note_map
from workbench.reports.render.html import ELEMENTS
from workbench.reports.vault_charts import degree_rows
from workbench.reports.vault_frames import note_text, picture_of, read_vault
from workbench.reports.vault_picture import first_grouping, picture
from workbench.surfaces.shipped import sample_vault

NOW = datetime(2026, 4, 1, 12, tzinfo=UTC)
SECTIONS = {
    "overview", "picture", "health", "broken", "orphans", "themes", "central", "bridges", "growth", "counting", "foot",
}  # fmt: skip
HOLDOUT = {
    "pairs": 80,
    "settings": {"share": 0.1, "repeats": 5, "first": 10, "seed": 1},
    "recall": {name: {"estimate": 0.4, "low": 0.3, "high": 0.5} for name in ("suggest", "inbound")},
    "gain_of_suggest": {"inbound": {"estimate": 0.05, "low": -0.01, "high": 0.11}},
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vault-report")
    return made_vaults.sample(folder / "home", folder / "Sam's notes")


@pytest.fixture(scope="module")
def written(vault, tmp_path_factory):
    return vault.report(tmp_path_factory.mktemp("out"), similarity=0.3)


@pytest.fixture(scope="module")
def page(written):
    return Page(written.path.read_text("utf-8"))


def test_the_page_has_all_its_sections_and_the_numbers_of_the_tables(page, written, vault):
    assert page.ids() >= SECTIONS
    assert (written.notes, written.score) == (52, 92)
    assert page.text("top") == "Notes: Sam's notes 52 notes and what joins them"
    overview = page.text("overview")
    for told in ("notes 52", "links 108 2.1 a note", "health 92 of 100 points", "broken links 3", "orphans 2"):
        assert told in overview
    assert page.text("broken-links").startswith(
        "name in the note line as Voting paradoxes Journal/2026-03-09.md 9 wikilink"
    )
    assert "Tea Inbox/Tea.md" in page.text("orphan-notes")
    best = vault.figures().notes.sort("pagerank", "path", descending=[True, False])["title"][0]
    assert best[:20] in page.text("pagerank")
    assert "no history" in page.text("growth")


def test_the_factors_of_the_score_make_the_score(page, vault):
    terms = vault.health().terms
    left = 100.0
    for share, weight in terms.select("share", "weight").iter_rows():
        left *= 1 - weight * share
    assert page.text("health-terms").endswith(f"{left:.1f}")
    assert round(left) == 92


def test_it_is_made_of_allowed_elements_and_leads_nowhere(page):
    assert page.tags <= {tag.lower() for tag in ELEMENTS} | FRAME
    assert all(value.startswith("#") for name, value in page.attributes if name == "href")


def test_the_same_index_gives_the_same_page(vault, tmp_path):
    first, second = (vault.report(tmp_path / name, similarity=0.3).path.read_text("utf-8") for name in ("a", "b"))
    parts = [html.partition('<footer id="foot">')[0] for html in (first, second)]
    assert parts[0] == parts[1]


def test_the_manifest_names_what_it_was_made_from(written, vault):
    told = json.loads(written.manifest.read_text("utf-8"))
    assert (told["report"], told["file"]) == ("vault", "vault.html")
    assert told["parameters"]["run_id"] == vault.status()["run_id"]
    assert (told["parameters"]["similarity"], told["parameters"]["vector_model"]) == (0.3, "words")
    assert set(told["tables"]) == {"vault_runs", "notes", "note_links", "note_tags", "note_aliases", "note_issues"}
    assert min(told["tables"][name] for name in ("vault_runs", "notes", "note_links")) >= 0


def test_what_is_missing_is_said(tmp_path):
    folder = tmp_path / "bare"
    folder.mkdir()
    (folder / "a.md").write_text("[[b]]", "utf-8")
    vault = wb.open(tmp_path / "home").vault(folder)
    vault.index()
    (folder / "b.md").write_text("new", "utf-8")
    page = Page(vault.report(tmp_path).path.read_text("utf-8"))
    assert "No note has a vector, so there are no themes" in page.text("missing")
    assert "1 note has changed since the last index run." in page.text("missing")
    assert "No themes were found" in page.text("themes")


def test_an_empty_vault_has_a_page_too(tmp_path):
    (tmp_path / "empty").mkdir()
    vault = wb.open(tmp_path / "home").vault(tmp_path / "empty")
    vault.index()
    assert "There are no notes" in Page(vault.report(tmp_path).path.read_text("utf-8")).text("empty")


def test_a_vault_that_was_never_indexed_is_refused(tmp_path):
    (tmp_path / "vault").mkdir()
    with pytest.raises(NotFoundError, match="was not indexed yet"):
        wb.open(tmp_path / "home").vault(tmp_path / "vault").report(tmp_path)


def test_a_place_that_cannot_be_written_is_told(vault, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="name another place for it"):
        vault.report(tmp_path / "file" / "x.html")


def test_growth_is_drawn_where_git_knows_it(tmp_path):
    folder = tmp_path / "vault"
    shutil.copytree(sample_vault() / "Maps", folder)
    who = ["-c", "user.name=Sam", "-c", "user.email=sam@example.com"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    vault = wb.open(tmp_path / "home").vault(folder)
    vault.index()
    page = Page(vault.report(tmp_path).path.read_text("utf-8"))
    assert "1 commit touched a note." in page.text("growth")
    assert "growth-over-time" in page.ids()


def test_a_hold_out_check_is_told(vault, tmp_path):
    path = tmp_path / "held.json"
    path.write_text(json.dumps(HOLDOUT), "utf-8")
    page = Page(vault.report(tmp_path, holdout=path).path.read_text("utf-8"))
    assert "10.0 % of 80 linked pairs hidden 5 times" in page.text("holdout")
    assert "most linked notes 0.400 0.300 to 0.500 +0.050 (-0.010 to 0.110)" in page.text("holdout-table")


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"recall": 1}'])
def test_a_file_that_is_no_hold_out_check_is_refused(vault, tmp_path, content):
    (tmp_path / "bad.json").write_text(content, "utf-8")
    with pytest.raises(BadInputError, match="is no hold-out check"):
        vault.report(tmp_path, holdout=tmp_path / "bad.json")


def test_hostile_notes_are_only_text(tmp_path):
    vault = made_vaults.hostile(tmp_path / "home", tmp_path / "<script>window.pwned=8")
    page = Page(vault.report(tmp_path, similarity=0.1).path.read_text("utf-8"))
    assert page.tags <= {tag.lower() for tag in ELEMENTS} | FRAME
    assert page.ids() >= SECTIONS
    assert not {name for name, _ in page.attributes if name.startswith("on") or name in ("src", "style", "action")}


def test_the_picture_knows_themes_communities_and_ranks(vault):
    drawn = picture_of(read_vault(vault, similarity=0.3))
    assert set(drawn.groupings) == {"theme", "folder", "community"}
    assert set(drawn.sizes) == {"links", "pagerank"}
    assert len(drawn.paths) == 52
    pairs = vault.links.filter(pl.col("target_kind") == "note").select("source_path", "target_path").unique()
    assert len(drawn.links) == pairs.filter(pl.col("source_path") != pl.col("target_path")).height


def test_a_note_is_read_with_its_facts(vault):
    told = note_text(vault, vault.notes, "Zettel/4b Context rot.md").plain()
    facts = dict(told["facts"])
    assert (facts["tags"], facts["created"]) == ("#agents", "2026-01-11")
    assert "Long prompts make answers worse" in told["text"]
    with pytest.raises(NotFoundError):
        note_text(vault, vault.notes, "gone.md")


def test_notes_are_counted_by_their_links():
    assert degree_rows([0, 0, 1, 3, 4, 7]) == [
        {"links": "0", "notes": 2},
        {"links": "1", "notes": 1},
        {"links": "2", "notes": 0},
        {"links": "3 to 4", "notes": 2},
        {"links": "5 to 8", "notes": 1},
    ]


def test_a_large_vault_is_drawn_in_part():
    number = 2000
    notes = pl.DataFrame(
        {"path": [f"{n}.md" for n in range(number)], "title": ["t"] * number, "folder": [None] * number}
    )
    links = pl.DataFrame({"source_path": [f"{n}.md" for n in range(1, number)], "target_path": ["0.md"] * (number - 1)})
    drawn = note_map(notes, links, title="x")
    made = picture(drawn).markup
    assert made.count("<circle") == 1500
    assert 'aria-label="2,000 notes, the 1,500 best linked and 1,499 links, coloured by folder."' in made


def test_a_grouping_of_few_notes_gives_way():
    notes = pl.DataFrame(
        {
            "path": list("abcd"),
            "title": list("abcd"),
            "folder": ["f"] * 4,
            "theme": ["t", None, None, None],
            "community": [0, 0, 1, 1],
        }
    )
    links = pl.DataFrame({"source_path": ["a", "c"], "target_path": ["b", "d"]})
    assert first_grouping(note_map(notes, links, title="x"))[0] == "community"
