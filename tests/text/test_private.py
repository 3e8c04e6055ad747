import pytest

from workbench.text.private import hide_private


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a <private>b</private> c", "a " + " " * 20 + " c"),
        ("a <PRIVATE>b\nc</Private>d", "a " + " " * 10 + "\n" + " " * 11 + "d"),
        ("a <private>b", "a <private>b"),
        ("<private>a</private>b<private>c</private>", " " * 20 + "b" + " " * 20),
        ("plain </b>", "plain </b>"),
    ],
)
def test_private_text_is_blank_and_all_other_characters_keep_their_places(text, shown):
    assert hide_private(text) == shown
    assert len(shown) == len(text)
