import pytest

from workbench.text.language import LanguageJudgement, judge_language

ENGLISH = (
    "All human beings are born free and equal in dignity and rights. They should act towards one another with reason."
)
OTHERS = {
    "Chinese": "今天下雨。记得带伞。 knowledge management 的笔记。",
    "Japanese": "すべての人間は、生まれながらにして自由である。",
    "Korean": "모든 인간은 태어날 때부터 자유로우며",
    "Russian": "\u0412\u0441\u0435 \u043b\u044e\u0434\u0438 \u0440\u043e\u0436\u0434\u0430\u044e\u0442\u0441\u044f",
    "German": "Die Würde des Menschen ist unantastbar. Sie zu achten und zu schützen ist Verpflichtung.",
    "French": "Tous les êtres humains naissent libres et égaux en dignité et doivent agir dans un esprit fraternel.",
    "Spanish": "Todos los seres humanos nacen libres y deben comportarse los unos con los otros.",
    "Italian": "Tutti gli esseri umani nascono liberi. Ogni individuo ha diritto alla sicurezza della persona.",
    "Portuguese": "Todo o indivíduo tem direito à vida, com uma razão que não se perde, para os seus.",
    "Dutch": "Alle mensen worden vrij geboren. Een ieder heeft recht op het leven en de vrijheid van zijn persoon.",
}


def test_english_prose_is_english():
    assert judge_language([ENGLISH]) == LanguageJudgement(0.0, 1, 1)


@pytest.mark.parametrize("language", OTHERS)
def test_a_text_in_another_language_is_not_english(language):
    judgement = judge_language([OTHERS[language]])
    assert judgement == LanguageJudgement(1.0, 1, 1)
    assert judgement.is_largely_not_english


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ls -la /usr/bin",
        "def f(x):\n    return x",
        '{"id": 3, "de": "x"}',
        "```\nthe cat and the dog\n```",
        "MiniLM",
    ],
)
def test_code_names_and_nothing_are_not_judged(text):
    assert judge_language([text]) == LanguageJudgement(0.0, 0, 1)


def test_texts_weigh_by_their_letters():
    short, long = OTHERS["German"][:40] + " ist nicht das", ENGLISH * 5
    assert not judge_language([short, long]).is_largely_not_english
    assert judge_language([short, long]).not_english < 0.1


def test_a_few_foreign_notes_among_many_do_not_tip_the_scale_and_many_do():
    few = judge_language([ENGLISH] * 9 + [OTHERS["French"]])
    many = judge_language([ENGLISH] * 2 + [OTHERS["French"]] * 8)
    assert not few.is_largely_not_english
    assert many.is_largely_not_english


def test_an_empty_sample_is_no_reason_for_another_model():
    assert judge_language([]) == LanguageJudgement(0.0, 0, 0)
