"""`workbench eval`: how well things work, measured on judged data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import print_json, print_table, progress_bar

if TYPE_CHECKING:
    from workbench.experiments.retrieval.evaluation import Evaluation

eval_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Measure how well things work, on judged data."
)
app.add_typer(eval_app, name="eval")


@eval_app.callback()
def _group() -> None:
    """Measure how well things work, on judged data."""


@eval_app.command()
def retrieval(
    context: typer.Context,
    path: Annotated[
        Path,
        typer.Argument(
            metavar="SET", help="A folder with queries.jsonl and qrels.tsv, or the JSON file of LoCoMo or LongMemEval."
        ),
    ],
    corpus: Annotated[
        Path | None,
        typer.Option(
            "--corpus", help="The documents: a folder of Markdown notes, or a .jsonl file.", show_default=False
        ),
    ] = None,
    embedder: Annotated[
        list[str] | None,
        typer.Option(
            "--embedder",
            help="A model as embedding.model takes it; give it again to compare. The configured one unless given.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write page, numbers and the values of each query there.", show_default=False),
    ] = None,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Compare grep, keyword, semantic and hybrid search on queries whose answers are known.

    The mixture of hybrid search is tuned on one half of the queries and reported on the other. Vectors are kept in the
    home; interrupted, the same command goes on from there.
    """
    from workbench.experiments.retrieval.run import run_evaluation  # noqa: PLC0415  (--help needs none of it)
    from workbench.reports.retrieval import command_of, report_numbers, write_retrieval_report  # noqa: PLC0415

    bench = open_bench(context, home)
    with progress_bar("embedding", of_bytes=False) as progress:
        evaluations = run_evaluation(path, corpus, embedder or [], bench.config, bench.home.vectors, progress)
    command = command_of(path, corpus, [each.model for each in evaluations])
    written = None if out is None else write_retrieval_report(evaluations, out, command)
    if json:
        print_json(report_numbers(evaluations, command))
    else:
        for each in evaluations:
            _print(each)
        if written is not None:
            print(f"wrote {written.page}, {written.numbers.name}, {written.per_query.name} and {written.overview.name}")


def _print(each: Evaluation) -> None:
    from workbench.experiments.retrieval.metrics import HEADLINE  # noqa: PLC0415

    counts = each.counts
    print(
        f"{each.set_name}, {each.model_id}: {counts['documents']:,} documents, {counts['reporting']} queries reported, "
        f"{counts['tuning']} tuned on"
    )
    measures = (HEADLINE, "mrr@10", "recall_any@1", "recall_any@10", "tokens", "p50_ms", "p95_ms")
    rows = [[method, *(each.figure(method, name).estimate for name in measures)] for method in each.methods]
    print_table(("method", *measures), rows)
    gain = each.gain[HEADLINE]
    print(
        f"tuned: {each.choice.mixture}; {each.verdict} {each.better_single} alone: {gain.estimate:+.3f} {HEADLINE} "
        f"({gain.low:+.3f} to {gain.high:+.3f})"
    )
    for left_out in each.left_out:
        print(f"left out: {left_out}")
    print()
