"""The pages of an evaluation of retrieval, in Markdown, out of its numbers as JSON holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from workbench.experiments.retrieval.evaluation import COMPARED, DEFAULT, GREP, KEYWORD, SEMANTIC, SINGLE, TUNED
from workbench.experiments.retrieval.metrics import CUTS, HEADLINE, TOP

Numbers = dict[str, Any]

_HOW_TO_READ: Final = (
    "Figures are means over the queries of the reporting half, with 95 % percentile bootstrap intervals over queries "
    "(10,000 samples). The half is told by the lowest bit of the first byte of SHA-256 of the query's id; the mixture "
    f"was chosen for {HEADLINE} on the other half. `tokens`: estimated tokens of the chunks behind the first {TOP} "
    "answers, of the matching lines for grep. Times are those of one query after the other, embedding of the query "
    "included, on the machine at hand. grep ranks documents by how many of the query's words they hold, then by how "
    f"often. {KEYWORD} and {SEMANTIC} ask the index that `workbench search` asks."
)
_MEASURES: Final = (HEADLINE, f"mrr@{TOP}", *(f"recall_any@{cut}" for cut in CUTS))


def page(numbers: Numbers) -> str:
    """The page of a set."""
    parts = [
        f"# Retrieval on {numbers['set']}",
        f"Made by `{numbers['command']}` with {_versions(numbers)}.",
        _HOW_TO_READ,
    ]
    if numbers["left_out"]:
        parts.append("Left out: " + "; ".join(numbers["left_out"]) + ".")
    parts += [_chunkings(numbers)] if numbers["chunkings"] else []
    parts += [_section(each) for each in numbers["evaluations"]]
    return "\n\n".join(parts) + "\n"


def overview(sets: Sequence[Numbers]) -> str:
    """The page over all sets, as Markdown, with the mixture that is best over all of them.

    Args:
        sets: Numbers of each, as `report_numbers` gives them.
    """
    heads = [
        "set",
        "embedder",
        "cut",
        "queries",
        GREP,
        KEYWORD,
        SEMANTIC,
        "tuned",
        "default",
        "tuned minus better single",
    ]
    rows = [
        [
            f"[{numbers['set']}]({numbers['set']}.md)",
            each["model_id"],
            each["chunking"],
            each["counts"]["reporting"],
            *(_short(each["methods"][name]["measures"][HEADLINE]) for name in (GREP, *SINGLE, TUNED, DEFAULT)),
            f"{_signed(each['gain'][HEADLINE])}, {each['verdict']}",
        ]
        for numbers in sets
        for each in numbers["evaluations"]
    ]
    parts = [
        "# Retrieval",
        (
            f"{HEADLINE} on the queries that were not tuned on, with 95 % bootstrap intervals; each page has the other "
            "measures. `above`: the whole interval of the paired difference is above 0; `level`: the difference is not "
            "below 0, but its interval holds 0; `below`: the difference is below 0."
        ),
        _table(heads, rows),
        _choice(sets),
        "\n".join(["```", *(numbers["command"] for numbers in sets), "```"]),
    ]
    return "\n\n".join(parts) + "\n"


def _chunkings(numbers: Numbers) -> str:
    heads = ["embedder", "cut", *COMPARED]
    rows = [
        [
            each["model_id"],
            f"{each['chunking']} minus {each['against']}",
            *(_signed(each["gain"][of]) for of in COMPARED),
        ]
        for each in numbers["chunkings"]
    ]
    said = (
        f"What another way to cut the documents changes of {HEADLINE}, paired over the queries of the reporting half:"
    )
    return f"## Ways to cut\n\n{said}\n\n{_table(heads, rows)}"


def best_over(sets: Sequence[Numbers]) -> list[tuple[str, float]]:
    """Mixtures by their mean headline over sets on the tuning halves, best first.

    Of a set, the embedder that does best alone on its tuning half counts, so that a set is not told twice.
    """
    totals: dict[str, float] = {}
    for numbers in sets:
        for row in _fitting(numbers)["grid"]:
            totals[row["mixture"]] = totals.get(row["mixture"], 0.0) + row["tuning"] / len(sets)
    return sorted(totals.items(), key=lambda item: (-round(item[1], 12), item[0]))


def _section(each: Numbers) -> str:
    heads = ["method", *_MEASURES, "tokens", "p50 ms", "p95 ms"]
    rows = [
        [
            name,
            *(_interval(method["measures"][measure]) for measure in _MEASURES),
            f"{method['tokens']:,.0f}",
            f"{method['p50_ms']:.1f}",
            f"{method['p95_ms']:.1f}",
        ]
        for name, method in each["methods"].items()
    ]
    counts = each["counts"]
    parts = [
        f"## {each['model_id']}, {each['chunking']}",
        (
            f"{counts['documents']:,} documents in {counts['chunks']:,} chunks; {counts['queries']} queries, "
            f"{counts['tuning']} to tune on, {counts['reporting']} to report; {counts['candidates']} candidates "
            "from each list."
        ),
        _verdict(each),
        _table(heads, rows),
    ]
    if _several_right(each):
        names = [f"recall_all@{cut}" for cut in CUTS]
        right = [
            [name, *(_interval(method["measures"][of]) for of in names)] for name, method in each["methods"].items()
        ]
        parts.append(_table(["method", *names], right))
    grid = [[row["mixture"], f"{row['tuning']:.4f}", f"{row['reporting']:.4f}"] for row in each["grid"]]
    parts += [f"Mean {HEADLINE} of every mixture:", _table(["mixture", "tuning half", "reporting half"], grid)]
    return "\n\n".join(parts)


def _verdict(each: Numbers) -> str:
    """In words, whether mixing is worth it; never more than the interval allows."""
    single, gain = each["better_single"], each["gain"][HEADLINE]
    said = {
        "above": f"Hybrid search is better than {single} alone",
        "level": f"Hybrid search is NOT shown to be better than {single} alone",
        "below": f"Hybrid search is NOT better than {single} alone: it is below it",
    }[each["verdict"]]
    beside = ", ".join(f"{name} {_signed(each['gain'][name])}" for name in (f"mrr@{TOP}", f"recall_any@{TOP}"))
    return (
        f"**{said}.** {_why(each)} On the reporting half it differs from {single}, the better single mode there, by "
        f"{_signed(gain)} {HEADLINE} (paired over queries); {beside}. The default of the configuration "
        f"({each['default']}) differs by {_signed(each['default_gain'][HEADLINE])}."
    )


def _why(each: Numbers) -> str:
    best, gain = each["best_on_tuning_half"], _signed(each["gain_on_tuning_half"])
    if each["tuned"] == best:
        return (
            f"Chosen on the tuning half: {best}, which is {gain} {HEADLINE} better than the better single mode there."
        )
    return (
        f"On the tuning half the best mixture ({best}) is not better than the better single mode beyond chance "
        f"({gain}), so that single mode was chosen: {each['tuned']}."
    )


def _several_right(each: Numbers) -> bool:
    """Whether some query has several right documents, so that finding all is another thing than finding one."""
    return any(
        method["measures"][f"recall_all@{cut}"] != method["measures"][f"recall_any@{cut}"]
        for method in each["methods"].values()
        for cut in CUTS
    )


def _choice(sets: Sequence[Numbers]) -> str:
    ranked = best_over(sets)
    used = sorted({each["default"] for numbers in sets for each in numbers["evaluations"]})
    names = ", ".join(f"{numbers['set']} ({_fitting(numbers)['model_id']})" for numbers in sets)
    table = _table(["mixture", f"mean {HEADLINE}"], [[name, f"{value:.4f}"] for name, value in ranked])
    return (
        f"## The default\n\nBest over {names}, mean over sets of the tuning halves: **{ranked[0][0]}**. The "
        f"configuration that these figures were made with has {', '.join(used)}.\n\n{table}"
    )


def _fitting(numbers: Numbers) -> Numbers:
    """The embedder of a set whose mixtures do best on the tuning half."""
    fitting: Numbers = max(numbers["evaluations"], key=lambda each: max(row["tuning"] for row in each["grid"]))
    return fitting


def _versions(numbers: Numbers) -> str:
    return ", ".join(f"{name} {number}" for name, number in numbers["versions"].items())


def _interval(figures: Sequence[float]) -> str:
    estimate, low, high = figures
    return f"{estimate:.3f} ({low:.3f} to {high:.3f})"


def _short(figures: Sequence[float]) -> str:
    return f"{figures[0]:.3f}"


def _signed(figures: Sequence[float]) -> str:
    estimate, low, high = figures
    return f"{estimate:+.3f} ({low:+.3f} to {high:+.3f})"


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
