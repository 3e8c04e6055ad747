"""Chunks for an index, given as id to text."""

import polars as pl


def chunks(texts, **columns):
    """One chunk a text; the id is the owner as well. Columns are the same for all."""
    rows = [{"chunk_id": f"{name}/0", "kind": "document", "id": name, "text": text} for name, text in texts.items()]
    return pl.DataFrame(rows).with_columns(pl.lit(value).alias(name) for name, value in columns.items())
