"""Tables of a page: rows in, markup out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from workbench.reports.render.html import Child, Html, el
from workbench.reports.render.text import one_line, shorten

CELL_CHARACTERS: Final = 160
"""A longer text in a cell is cut, and the cell says by how much."""

Row = Mapping[str, Any]
Kind = Literal["text", "number", "code"]


def short_text(value: Any) -> Child:
    """Any value as one line of at most `CELL_CHARACTERS`."""
    return "" if value is None else shorten(one_line(str(value)), CELL_CHARACTERS)


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        name: The key in the rows.
        head: What stands above it.
        show: From a value to what the cell holds.
        kind: `number` is set to the right with digits of one width, `code` in a fixed-width letter.
        bar: Whether a bar under the value shows its part of the column's largest.
        title: What the head means, shown when the pointer rests on it.
        is_wide: Whether the column takes the room that is left, and wraps.
    """

    name: str
    head: str
    show: Callable[[Any], Child] = short_text
    kind: Kind = "text"
    bar: bool = False
    title: str | None = None
    is_wide: bool = False

    @property
    def class_(self) -> str:
        """Class of its cells."""
        return " ".join([self.kind, *(["wide"] if self.is_wide else [])])


def table(
    rows: Sequence[Row],
    columns: Sequence[Column],
    *,
    total: Row | None = None,
    id: str | None = None,  # noqa: A002
    label: str | None = None,
) -> Html:
    """A table.

    Args:
        rows: Each with the columns' names as keys; what is missing is None.
        columns: In order.
        total: A row that sums the others up.
        id: Its element id.
        label: What it is called for those who do not see the heading above it.
    """
    largest = {column.name: _largest(rows, column.name) for column in columns if column.bar}
    heads = [el("th", c.head, class_=c.class_, scope="col", title=c.title) for c in columns]
    lines = [el("tr", [_cell(row.get(c.name), c, largest.get(c.name)) for c in columns]) for row in rows]
    foot = el("tfoot", el("tr", [_cell(total.get(c.name), c, None) for c in columns])) if total else None
    made = el("table", el("thead", el("tr", heads)), el("tbody", lines), foot, id=id, aria_label=label)
    return el("div", made, class_="scroll", tabindex="0", role="region", aria_label=label or "table")


def _largest(rows: Sequence[Row], name: str) -> float:
    return max((row.get(name) or 0 for row in rows), default=0)


def _cell(value: Any, column: Column, largest: float | None) -> Html:
    drawn = bar(value / largest) if largest and value is not None else None
    is_none = column.kind == "number" and value in (None, 0)
    return el("td", column.show(value), drawn, class_=f"{column.class_} none" if is_none else column.class_)


def bar(part: float) -> Html:
    """A bar that fills a part (0 to 1) of its place."""
    width = round(100 * min(max(part, 0), 1), 1)
    return el(
        "svg",
        el("rect", width=width, height=4, class_="filled"),
        class_="bar",
        viewBox="0 0 100 4",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
