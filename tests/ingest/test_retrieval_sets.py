"""Judged sets of the three shapes that are known; the two public ones are made here, as their authors publish them."""

import json

import pytest

from workbench.errors import BadInputError, NotFoundError
from workbench.ingest.retrieval import open_judged_set
from workbench.ingest.retrieval.judged import judged_set
from workbench.ingest.retrieval.notes import without_answers


def lines(path, *rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "small"
    made.mkdir()
    lines(made / "queries.jsonl", {"id": "q1", "text": "cat"}, {"id": "q2", "text": "dog", "kind": "anchor"})
    (made / "qrels.tsv").write_text("q1\td1\t1\nq2\td2\t2\nq2\td1\t0\n")
    lines(made / "corpus.jsonl", {"id": "d1", "text": "a cat"}, {"id": "d2", "text": "a dog"}, {"id": "d3", "text": ""})
    return made


def test_a_folder_is_read(folder):
    judged = open_judged_set(folder)
    assert judged.name == "small"
    assert judged.queries.rows() == [("q1", "cat"), ("q2", "dog")]
    assert judged.documents.rows() == [("d1", "a cat"), ("d2", "a dog"), ("d3", "")]
    assert judged.judgements.rows() == [("q1", "d1", 1.0), ("q2", "d2", 2.0)]
    assert judged.pools is None
    assert judged.left_out == ()


def test_what_cannot_be_used_is_left_out_by_name_and_hides_nothing(folder):
    with (folder / "queries.jsonl").open("a") as file:
        file.write('{"id": 3}\nnonsense\n{"id": "q4", "text": "bird"}\n{"id": "q1", "text": "again"}\n')
    with (folder / "qrels.tsv").open("a") as file:
        file.write("q4\tgone\t1\nq9\td1\t1\nbroken line\n")
    judged = open_judged_set(folder)
    assert judged.queries["query_id"].to_list() == ["q1", "q2"]
    assert judged.left_out == (
        '2 lines of queries.jsonl are not {"id": text, "text": text} (line 3, 4)',
        "1 lines of qrels.tsv are not query, document, grade with tabs between (line 6)",
        "1 queries have an id that another one has (q1)",
        "1 judgements name a document that is not in the corpus (gone)",
        "1 judgements name a query that is not asked (q9)",
        "1 queries have no right document (q4)",
    )


def test_a_heading_and_a_byte_order_mark_are_no_rows(folder):
    (folder / "qrels.tsv").write_text("\ufeffquery\tdocument\tgrade\r\nq1\td1\t1\r\n", "utf-8")
    judged = open_judged_set(folder)
    assert judged.judgements.rows() == [("q1", "d1", 1.0)]
    assert judged.left_out == ("1 queries have no right document (q2)",)


def test_notes_are_read_without_front_matter_and_without_lines_that_give_the_answer_away(folder, tmp_path):
    vault = tmp_path / "vault"
    (vault / "sub").mkdir(parents=True)
    (vault / ".trash").mkdir()
    (vault / "d1.md").write_text("---\naliases: [cat]\n---\nBody\nsee [[sub/Beast|dog]] here\n[[sub/Beast|other]]\n")
    (vault / "sub" / "Beast.md").write_text("---\nno end of front matter\nwoof")
    (vault / ".trash" / "old.md").write_text("gone")
    (folder / "qrels.tsv").write_text("q1\td1.md\t1\nq2\tsub/Beast.md\t1\n")
    judged = open_judged_set(folder, vault)
    assert judged.documents.rows() == [
        ("d1.md", "d1\n\nBody\n[[sub/Beast|other]]\n"),
        ("sub/Beast.md", "Beast\n\n---\nno end of front matter\nwoof\n"),
    ]
    assert judged.notes is not None
    assert judged.notes["path"].to_list() == ["d1.md", "sub/Beast.md"]
    assert judged.left_out == (
        "the aliases of 1 notes, which are asked for",
        "1 lines of notes, whose links show what is asked for",
    )


def test_a_link_in_a_table_gives_the_answer_away_too():
    assert without_answers("| [[Beast\\|dog]] |\n| kept |", {"dog"}) == "| kept |"


def test_a_query_whose_documents_are_all_wrong_is_not_evaluated():
    with pytest.raises(BadInputError, match=r"no query with a right document.*1 queries have no right document"):
        judged_set("x", [("q", "text")], [("d", "text")], [("q", "d", 0.0)])


LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bob",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I got a cat."},
                {"speaker": "Bob", "dia_id": "D1:2", "text": "Look!", "img_url": ["x"], "blip_caption": "a dog"},
            ],
            "session_2_date_time": "1:14 pm on 25 May, 2023",
            "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "The cat is ill."}],
        },
        "qa": [
            {"question": "Which pet has Ann?", "answer": "cat", "evidence": ["D1:1; D2:1"], "category": 1},
            {"question": "What did Bob show?", "answer": "dog", "evidence": ["D1:2"], "category": 4},
            {"question": "Trick?", "adversarial_answer": "no", "evidence": ["D1:2"], "category": 5},
        ],
        "event_summary": {},
    },
    {"sample_id": "conv-2", "conversation": None, "qa": []},
]

LONGMEMEVAL = [
    {
        "question_id": "e47b",
        "question_type": "single-session-user",
        "question": "What degree did I take?",
        "answer": "Law",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I studied law."},
                {"role": "assistant", "content": "Fine.", "has_answer": True},
            ],
            [{"role": "user", "content": "Weather?"}],
        ],
        "answer_session_ids": ["s1"],
    },
    {
        "question_id": "aa_abs",
        "question": "Unknown?",
        "haystack_session_ids": [],
        "haystack_sessions": [],
        "answer_session_ids": [],
    },
    {
        "question_id": "bad",
        "question": "?",
        "haystack_session_ids": ["s1", "s9"],
        "haystack_sessions": [[]],
        "answer_session_ids": [],
    },
]


def test_locomo_is_read_turn_by_turn_each_question_in_its_own_conversation(tmp_path):
    (tmp_path / "locomo10.json").write_text(json.dumps(LOCOMO))
    judged = open_judged_set(tmp_path / "locomo10.json")
    assert judged.documents.row(1) == ("conv-1/D1:2", "1:56 pm on 8 May, 2023\nBob: Look! [picture: a dog]")
    assert judged.queries.rows() == [("conv-1/q0", "Which pet has Ann?"), ("conv-1/q1", "What did Bob show?")]
    assert judged.judgements.rows() == [
        ("conv-1/q0", "conv-1/D1:1", 1.0),
        ("conv-1/q0", "conv-1/D2:1", 1.0),
        ("conv-1/q1", "conv-1/D1:2", 1.0),
    ]
    assert judged.pools.height == 6
    assert judged.left_out[0].startswith("conversation conv-2 has not LoCoMo's shape")
    assert judged.left_out[1] == "1 questions are meant to have no answer"


def test_longmemeval_is_read_chat_by_chat_each_question_in_its_own_haystack(tmp_path):
    (tmp_path / "longmemeval_s.json").write_text(json.dumps(LONGMEMEVAL))
    judged = open_judged_set(tmp_path / "longmemeval_s.json")
    assert judged.documents.rows() == [("s1", "user: I studied law.\n\nassistant: Fine."), ("s2", "user: Weather?")]
    assert judged.judgements.rows() == [("e47b", "s1", 1.0)]
    assert judged.pools.rows() == [("e47b", "s1"), ("e47b", "s2")]
    assert judged.left_out[0].startswith("question bad has not LongMemEval's shape")
    assert judged.left_out[1] == "1 questions are meant to have no answer"


@pytest.mark.parametrize(
    ("content", "said"), [("{}", "neither LoCoMo's shape"), ("[1]", "neither LoCoMo's"), ("{", "is not JSON")]
)
def test_json_of_another_shape_is_refused(tmp_path, content, said):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(BadInputError, match=said):
        open_judged_set(tmp_path / "x.json")


def test_what_is_missing_is_named(folder, tmp_path):
    with pytest.raises(NotFoundError, match="there is no judged set"):
        open_judged_set(tmp_path / "nowhere")
    with pytest.raises(NotFoundError, match=r"there is no corpus .*--corpus"):
        open_judged_set(folder, tmp_path / "nowhere")
    (folder / "corpus.jsonl").unlink()
    with pytest.raises(NotFoundError, match=r"corpus\.jsonl; or name a folder of Markdown notes: --corpus"):
        open_judged_set(folder)
