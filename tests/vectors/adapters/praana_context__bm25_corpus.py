from __future__ import annotations

from workbench.text.bm25 import bm25_scores, corpus_stats, tokenize


def run(case_input):
    documents = case_input["documents"]
    stats = corpus_stats(map(tokenize, documents))
    return {
        "avgDocLen": stats.average_length,
        "totalDocs": stats.total_documents,
        "docFreq": dict(stats.document_frequency),
        "scores": [bm25_scores(query, documents).tolist() for query in case_input["queries"]],
    }
