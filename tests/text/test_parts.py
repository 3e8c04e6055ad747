"""Parts of identifiers, paths and CJK runs, and the words of a query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.text.parts import LONGEST_TOKEN, parts, query_terms


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("def getUserProfile(uid)", "getuserprofile get user profile"),
        ("HTTPServerError2", "httpservererror2 http server error 2"),
        ("atomic_write_json", "atomic_write_json atomic write json"),
        ("edited src/app/main.py twice", "src/app/main.py src app main py"),
        ("grammar::fa", "grammar::fa grammar fa"),
        ("v0.9.10", "v0.9.10 v 0 9 10"),
        ("C:\\work\\a.txt", "c:\\work\\a.txt c work a txt"),
        ("数据库", "数据 据库 数 据 库"),
        ("用getUserName查询", "用 getusername get user name 查询 查 询"),
        ("데이터", "데이 이터 데 이 터"),
        ("plain words, no parts.", ""),
        ("at five o'clock, 1,000 of a,b", "o'clock o clock 1,000 1 000"),
        ("__init__ and user_数", "__init__ init user_ user 数"),
        ("3f786850e387550fdab836ed7e6dc881de23001b", ""),
        ("ship it 🚀", "🚀"),
        ("", ""),
    ],
)
def test_a_stream_has_the_parts_of_what_has_parts(text, stream):
    assert parts(text) == stream


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("user profile", ("user", "profile")),
        ("getUserProfile", ("getuserprofile", "get", "user", "profile")),
        ("the gauge is dry", ("gauge", "dry")),
        ("to be or not", ("not",)),
        ("to be", ("to", "be")),
        ("how where why", ("how", "where", "why")),
        ("NOT gauge", ("not", "gauge")),
        ("gauge* -valve text:pump", ("gauge", "valve", "text:pump", "text", "pump")),
        ('"pump is dry', ("pump", "dry")),
        ("a C b", ("a", "c", "b")),
        ("go go GO", ("go",)),
        ("__init__", ("__init__", "init")),
        ("数据库", ("数据", "据库")),
        ("库", ("库",)),
        ("🚀", ("🚀",)),
        ('*** () ""', ()),
        ("  \n\t", ()),
    ],
)
def test_a_query_is_its_words_and_their_parts(query, words):
    assert query_terms(query).words == words


def test_of_a_long_query_the_first_words_are_taken_and_the_rest_is_counted():
    terms = query_terms(" ".join(f"word{number}x" for number in range(100)), most=3)
    assert terms == (("word0x", "word1x", "word2x"), 97)


def test_data_without_word_boundaries_is_no_token():
    assert parts("x" * (LONGEST_TOKEN + 1) + "_y") == "y"
    assert query_terms("x" * 100_000).words == ()


@given(st.text())
def test_whatever_stands_in_a_text_is_found_in_its_stream_or_is_a_plain_word(text):
    streams = set(parts(text).split())
    for word in query_terms(text, most=10_000, least_chars=1).words:
        assert word in streams or word in text.lower()


@given(st.lists(st.sampled_from(["user", "HTTP", "io", "v2", "数", "据库"]), min_size=2, max_size=5).map("_".join))
def test_a_part_that_is_asked_for_is_in_the_stream(text):
    streams = set(parts(text).split())
    assert {word for word in query_terms(text).words if "_" not in word} <= streams
