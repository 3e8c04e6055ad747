"""All that is not the slip box: projects, sources, maps, a journal, an inbox, and notes that went astray."""

from __future__ import annotations

from typing import Final

from sample_maker.vault.note import Note

WORKADAY: Final = (
    Note(
        "Home",
        """
# Home

- [[Maps/Numbers and fairness]], [[Maps/Pages]], [[Maps/Agents]], [[Maps/Note-taking]]
- Projects: [[Tally]], [[Folio]], [[Courier]]
- Today: [[2026-03-14]]
- The rules of this vault: [notes on notes](Zettel/5%20A%20note%20is%20one%20idea%20in%20my%20own%20words.md)
""",
        "2025-09-01",
        ("map",),
    ),
    Note(
        "Maps/Numbers and fairness",
        """
# Numbers and fairness

Start: [[1 Money is counted in whole cents]]. Then [[1a Largest remainder splits fairly|how to split]],
[[1a1 Ties need a rule that everybody can check|ties]], [[1b Settling debts is a graph problem|settling]] and
[[1c Exchange rates belong to the expense|currencies]].

Open: [[Voting paradoxes]], which I keep meaning to write.
""",
        "2025-10-04",
        ("map", "money"),
    ),
    Note(
        "Maps/Pages",
        """
# Pages

[[2 A page is a budget of space]], [[2a Badness adds up over the paragraph]],
[[2a1 Greedy is fine when mistakes are cheap]], [[2b Widows and orphans]],
[[2c Hyphenation is a dictionary and a risk]].

Sources: [[Knuth and Plass - Breaking Paragraphs into Lines]], [[Bringhurst - Elements of Typographic Style]].
""",
        "2025-11-10",
        ("map", "typesetting"),
    ),
    Note(
        "Maps/Agents",
        """
# Agents

[[4 Agents forget, so write it down]] and what follows from it: [[4a A prompt is a budget of tokens]],
[[4a1 Say what was cut]], [[4b Context rot]], [[4c Memory is a fold over signals]],
[[4d Recalled text is evidence, not instruction]].

Under it all: [[event sourcing]], [[idempotence]].
""",
        "2026-01-18",
        ("map", "agents"),
    ),
    Note(
        "Maps/Note-taking",
        """
# Note-taking

[[atomic note]], [[Folgezettel]], [[5b Links are claims]], [[5c An orphan is a question not yet asked]],
[[5d Spaced repetition and spaced linking]].

![[5b Links are claims#Links are claims]]
""",
        "2025-12-21",
        ("map", "notes"),
    ),
    Note(
        "Projects/Tally",
        """
# Tally

Splits the expenses of a holiday. A command line, one text file, no server.

## Decisions
- Integer cents: [[1 Money is counted in whole cents]] ^cents
- Remainders: [[largest remainder]]
- Rates are stored with the expense: [[1c Exchange rates belong to the expense]]

## Log
[[2026-03-02]] lost cents, [[2026-03-14]] currencies.

status:: active
""",
        "2025-09-01",
        ("project", "money"),
        fields={"repository": "tally", "next": '"[[Folio]]"'},
    ),
    Note(
        "Projects/Folio",
        """
# Folio

Turns Markdown into printed pages. Slow, and better than what I had.

- Paragraphs: [[total fit]]
- Charts are drawn as text first: see [[Crooked chart]]
- 中文段落也要排好：标点挤压，避头尾。See [[中文排版]]
""",  # noqa: RUF001  (Chinese has commas of its own)
        "2025-09-20",
        ("project", "typesetting"),
        fields={"repository": "folio", "prev": '"[[Tally]]"', "next": '"[[Courier]]"'},
    ),
    Note(
        "Projects/Courier",
        """
# Courier

Sends messages that must arrive. An outbox table, a worker, a lot of waiting.

- [[3a Deliver at least once and notice the second time]]
- [[jitter]] after each failure
- What if the disk is full? See [[3c Backpressure is a form of honesty]] and [[Runbook]]

```python
outbox[[0]]  # not a link, and neither is this: [[nowhere]]
```
""",
        "2025-10-10",
        ("project", "queues"),
        fields={"repository": "courier", "prev": '"[[Folio]]"'},
    ),
    Note(
        "Projects/Crooked chart",
        """
# Crooked chart

The bars leaned because labels were measured in characters and drawn in points. Wide letters (中, W) broke it. Fixed by
measuring what is drawn. Same lesson as [[6 Measure against the simplest thing that works]], in small.
""",
        "2026-02-20",
        ("typesetting",),
    ),
    Note(
        "Projects/中文排版",
        """
# 中文排版

标点不能出现在行首，引号要成对。行与行之间的距离比拉丁文字大一些。参见 [[2 A page is a budget of space]]。

断行时不看单词，只看禁则；所以 [[2a Badness adds up over the paragraph]] 的办法仍然有用，只是代价函数不同。
""",  # noqa: RUF001  (Chinese has commas of its own)
        "2026-02-22",
        ("typesetting", "语言"),
        ("Chinese typesetting",),
    ),
    Note(
        "Sources/Ahrens - How to Take Smart Notes",
        """
# Ahrens - How to Take Smart Notes

Writing is not what follows research, it is the medium of it. Fleeting, literature and permanent notes. My version:
[[5 A note is one idea in my own words]].
""",
        "2025-09-05",
        ("source", "notes"),
    ),
    Note(
        "Sources/Balinski and Young - Fair Representation",
        """
# Balinski and Young - Fair Representation

No method of apportionment avoids both the population paradox and violations of quota. Largest remainder
([[1a Largest remainder splits fairly]]) has the Alabama paradox: more seats in all, one fewer for you.
""",
        "2025-09-18",
        ("source", "fairness"),
    ),
    Note(
        "Sources/Knuth and Plass - Breaking Paragraphs into Lines",
        """
# Knuth and Plass - Breaking Paragraphs into Lines

Software: Practice and Experience, 1981. Boxes, glue, penalties; shortest path over feasible breaks. Summary in
[[2a Badness adds up over the paragraph]].
""",
        "2025-10-05",
        ("source", "typesetting"),
    ),
    Note(
        "Sources/Bringhurst - Elements of Typographic Style",
        """
# Bringhurst - Elements of Typographic Style

Typography exists to honour content. 45 to 75 characters a line. Not yet read beyond chapter two.
""",
        "2025-11-09",
        ("source", "typesetting"),
    ),
    Note(
        "Sources/Kleppmann - Designing Data-Intensive Applications",
        """
# Kleppmann - Designing Data-Intensive Applications

Chapter 11 on streams: state is the integral of events, an event the derivative of state. See
[[3 A log is the truth]], [[3b Order by number, never by clock]] and for the clocks
[[Lamport - Time, Clocks and the Ordering of Events]].
""",
        "2025-10-11",
        ("source", "logs"),
    ),
    Note(
        "Sources/Lamport - Time, Clocks and the Ordering of Events",
        """
# Lamport - Time, Clocks and the Ordering of Events

1978. Happened-before is a partial order; a logical clock extends it to a total one. Short, and worth reading twice.
""",
        "2025-11-15",
        ("source", "logs"),
    ),
    Note(
        "Sources/Ebbinghaus - Memory",
        """
# Ebbinghaus - Memory

1885. One man, thousands of nonsense syllables, one curve. Most is lost within a day, the rest slowly. Used for
half-lives in [[4c Memory is a fold over signals]].
""",
        "2026-01-17",
        ("source", "memory"),
    ),
    Note(
        "Journal/2026-03-02",
        """
# 2026-03-02

The test with three people and ten euros failed by a cent; the agent found it in two prompts. Wrote nothing new,
linked [[1a Largest remainder splits fairly]]. Tomorrow: [[Folio]].
""",
        "2026-03-02",
        ("journal",),
    ),
    Note(
        "Journal/2026-03-09",
        """
# 2026-03-09

Provider overloaded all morning. [[Courier]] waited as it should ([[3a1 Back off, and add some chance]]), the agent's
own client did not. Ordered [[Voting paradoxes]] literature, unread.
""",
        "2026-03-09",
        ("journal",),
    ),
    Note(
        "Journal/2026-03-14",
        """
# 2026-03-14

Currencies in [[Tally]]: the long session, forty calls. The prompt grew until the agent forgot the branch it was on,
which is [[4b Context rot]] in person. Decided: [[Projects/Tally#^cents]] stays.
""",
        "2026-03-14",
        ("journal",),
    ),
    Note(
        "Inbox/Regression to the mean",
        """
# Regression to the mean

The worst session of the week is followed by a better one whatever I change. So a change made after a bad day looks
good. Only a comparison with arms tells. To be worked in. #statistics
""",
    ),
    Note(
        "Inbox/Tea",
        """
# Tea

80 degrees for green, 95 for black. Three minutes.
""",
    ),
    Note(
        "Inbox/Bookshelf order",
        """
# Bookshelf order

By size looks best, by subject finds best, by date of reading remembers best. A shelf is a one-dimensional index.
""",
        "2026-02-27",
        ("notes",),
    ),
)
