import pytest

from workbench.context.notes import is_activity_log


@pytest.mark.parametrize(
    ("note", "is_log"),
    [
        ("Read src/a.py and then src/b.py carefully", True),
        ("src/a/b, src/c/d and src/e/f are big", True),
        ("src/a/b, src/c/d are big and wide", False),
        ("Checked main.rs, lib.rs and mod.rs again", True),
        ("loader.py uses a lazy scan for csv files", False),
        ("Read src/a.py: the cache is a plain dict", False),
        ("Reviewed the pricing module with the team", False),
        ("Read a.py", False),
    ],
)
def test_a_note_that_only_tells_what_was_looked_at_is_a_log(note, is_log):
    assert is_activity_log(note) is is_log
