"""The documentation says what is so."""

from pathlib import Path

from workbench.store.document import document
from workbench.store.tables import TABLES, VIEWS

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_page_of_tables_is_what_the_declarations_say():
    assert (DOCS / "tables.md").read_text("utf-8") == document([*TABLES.values(), *VIEWS.values()]), "run make docs"
