"""The slip box: one idea a note, numbered so that a note continues the one whose number it begins with."""

from __future__ import annotations

from typing import Final

from sample_maker.vault.note import Note

IDEAS: Final = (
    Note(
        "Zettel/1 Money is counted in whole cents",
        """
# Money is counted in whole cents

A sum of money is an integer number of its smallest unit. A float cannot hold ten cents, so three shares of ten euros
never add up to ten euros again. Keep cents from the first line read to the last line printed, and divide only where a
person must pay. What is left over is handled by [[1a Largest remainder splits fairly]].

Learned the hard way in [[Tally]].
""",
        "2025-09-14",
        ("money", "correctness"),
        ("integer cents",),
    ),
    Note(
        "Zettel/1a Largest remainder splits fairly",
        """
# Largest remainder splits fairly

Give everybody the whole part of their share, then hand out the missing cents one by one to those with the largest
remainder. Nobody is ever more than a cent away from the exact share, and the sum is right. Parliaments seat parties
this way. See [[Balinski and Young - Fair Representation]] for why no method is fair in every sense, and
[[1a1 Ties need a rule that everybody can check]].
""",
        "2025-09-15",
        ("money", "fairness"),
        ("Hamilton's method", "largest remainder"),
    ),
    Note(
        "Zettel/1a1 Ties need a rule that everybody can check",
        """
# Ties need a rule that everybody can check

Two people have the same remainder and one cent is left. Random is fair in the long run and looks unfair today. By
name is unfair to Anna. Rotating by the number of the expense is checkable and evens out. The same question comes up
in [[3b Order by number, never by clock]]: a rule that others can recompute beats one that is merely even.
""",
        "2025-09-21",
        ("fairness",),
    ),
    Note(
        "Zettel/1b Settling debts is a graph problem",
        """
# Settling debts is a graph problem

Who owes whom is a directed graph with weights. Only the balance of each person matters, so any set of payments with
the same balances will do. Finding the fewest payments is hard (it hides the partition problem), but paying the
largest debtor against the largest creditor needs at most one payment fewer than there are people, which is good
enough for a holiday.

Continues [[1 Money is counted in whole cents]]; drawn in ![[settling.svg]]
""",
        "2025-10-02",
        ("money", "graphs"),
    ),
    Note(
        "Zettel/1c Exchange rates belong to the expense",
        """
# Exchange rates belong to the expense

Convert at the rate of the day on which the money was spent and store that rate with the expense. Looking it up again
later changes the past: yesterday's balances move although nobody paid anything. That is the same mistake as updating
a log in place, see [[3 A log is the truth]].
""",
        "2026-03-05",
        ("money", "correctness"),
    ),
    Note(
        "Zettel/2 A page is a budget of space",
        """
# A page is a budget of space

Setting a page means choosing what fits. Every line competes for the same few centimetres, a table takes what ten
lines of prose would need, and a picture pushes its caption to the next page. The art is to decide what to leave out
before shrinking the letters. [[4a A prompt is a budget of tokens]] is the same problem in another trade.
""",
        "2025-09-28",
        ("typesetting", "budget"),
    ),
    Note(
        "Zettel/2a Badness adds up over the paragraph",
        """
# Badness adds up over the paragraph

Breaking lines one at a time makes the last line ugly. Give each line a badness that grows with the cube of its
stretch and minimise the sum over the whole paragraph by dynamic programming: a slightly worse first line buys a much
better third. Greedy choices are local; beauty is not. After [[Knuth and Plass - Breaking Paragraphs into Lines]].
""",
        "2025-10-05",
        ("typesetting", "optimisation"),
        ("total fit",),
    ),
    Note(
        "Zettel/2a1 Greedy is fine when mistakes are cheap",
        """
# Greedy is fine when mistakes are cheap

First fit breaks lines badly and settles debts well. The difference is what a wrong early choice costs later: a line
break cannot be taken back, a payment can be made tomorrow. Before reaching for an optimiser, ask what the second
best answer costs. Compare [[1b Settling debts is a graph problem]] with [[2a Badness adds up over the paragraph]].
""",
        "2025-10-19",
        ("optimisation",),
    ),
    Note(
        "Zettel/2b Widows and orphans",
        """
# Widows and orphans

A widow is the last line of a paragraph alone at the top of a page, an orphan its first line alone at the bottom. Both
make a reader stumble. In a vault an orphan is a note that nobody links to: it makes nobody stumble, since nobody ever
gets there. See [[5c An orphan is a question not yet asked]].
""",
        "2025-11-03",
        ("typesetting",),
    ),
    Note(
        "Zettel/2c Hyphenation is a dictionary and a risk",
        """
# Hyphenation is a dictionary and a risk

Liang's patterns hyphenate nearly every word right with a few thousand rules, and the rest wrong with great
confidence. An author's exceptions must win over the rules. A program that edits what people wrote has to show what
it would do first.
""",
        "2025-11-09",
        ("typesetting",),
    ),
    Note(
        "Zettel/3 A log is the truth",
        """
# A log is the truth

Append what happened and never change it; everything else is computed from there and can be thrown away. A wrong
computation is repaired by running it again, a wrong update is gone. Balances in [[Tally]], the outbox of [[Courier]]
and the memory of an agent ([[4c Memory is a fold over signals]]) are all folds over a log.

After [[Kleppmann - Designing Data-Intensive Applications]].
""",
        "2025-10-11",
        ("logs", "correctness"),
        ("event sourcing", "append-only"),
    ),
    Note(
        "Zettel/3a Deliver at least once and notice the second time",
        """
# Deliver at least once and notice the second time

A message that must not be lost will sometimes come twice: the receiver did the work and the answer got lost. So give
every message an id, remember the ids that were done, and make the second time harmless. Exactly once is not a
promise of the network, it is an agreement between the ends. Continues [[3 A log is the truth]].
""",
        "2025-10-12",
        ("logs", "queues"),
        ("idempotence",),
    ),
    Note(
        "Zettel/3a1 Back off, and add some chance",
        """
# Back off, and add some chance

When the provider is overloaded, all clients retry at the same moment and keep it overloaded. Double the waiting time
after each failure, cap it, and add a random part, or the herd stays a herd. Agents do this too: [[2026-03-09]] shows
one that waited and one that did not.
""",
        "2025-10-26",
        ("queues",),
        ("exponential backoff", "jitter"),
    ),
    Note(
        "Zettel/3b Order by number, never by clock",
        """
# Order by number, never by clock

Clocks step back, two machines never agree, and a summer night has one hour twice. A sequence number given by the one
who writes is an order; a time is a remark about it. See [[Lamport - Time, Clocks and the Ordering of Events]].
""",
        "2025-11-16",
        ("logs", "correctness"),
    ),
    Note(
        "Zettel/3c Backpressure is a form of honesty",
        """
# Backpressure is a form of honesty

A queue without an end says yes to everything and loses it later. A full queue that refuses tells the sender the truth
while something can still be done. Prompts are the same: at a limit, cut what is least needed and say so, as in
[[4a1 Say what was cut]].
""",
        "2025-11-23",
        ("queues", "budget"),
    ),
    Note(
        "Zettel/4 Agents forget, so write it down",
        """
# Agents forget, so write it down

A coding agent starts every session knowing nothing of the last one, and loses the middle of a long one. What it
should know must be put before it, every time, in words. That makes an outside memory the interesting part: what to
keep, what to recall, how to tell that it helped. Continued in [[4a A prompt is a budget of tokens]],
[[4b Context rot]] and [[4c Memory is a fold over signals]].
""",
        "2025-11-30",
        ("agents", "memory"),
    ),
    Note(
        "Zettel/4a A prompt is a budget of tokens",
        """
# A prompt is a budget of tokens

Everything in the window competes for room and attention: the task, the last exchanges, old results, notes. Score each
piece (how recent, how close to the question, pinned or not) and fill the budget from the top, as one fills a page:
[[2 A page is a budget of space]]. A score that is a sum of named terms can be explained and tuned.
""",
        "2025-12-07",
        ("agents", "budget"),
        ("context budget",),
    ),
    Note(
        "Zettel/4a1 Say what was cut",
        """
# Say what was cut

A tool result cut at 400 lines looks like a file of 400 lines. The model then reasons about a file that does not
exist. Every cut leaves a mark with how much is missing and how to get it. People deserve the same in a report.
""",
        "2025-12-14",
        ("agents", "honesty"),
    ),
    Note(
        "Zettel/4b Context rot",
        """
# Context rot

Long prompts make answers worse before they make them impossible. Details in the middle are overlooked, early
mistakes are repeated because they stand there in writing. Shorter and fresher beats longer, up to a point that must
be measured, not guessed: [[6 Measure against the simplest thing that works]].
""",
        "2026-01-11",
        ("agents",),
        ("lost in the middle",),
    ),
    Note(
        "Zettel/4c Memory is a fold over signals",
        """
# Memory is a fold over signals

Do not store how useful a memory is. Store each time it was recalled, used, contradicted, and compute its usefulness
from those. When the formula turns out wrong, history is recomputed instead of regretted. This is
[[3 A log is the truth]] for agents; half-lives come from [[Ebbinghaus - Memory]].
""",
        "2026-01-18",
        ("agents", "memory", "logs"),
    ),
    Note(
        "Zettel/4d Recalled text is evidence, not instruction",
        """
# Recalled text is evidence, not instruction

Whatever comes out of a memory, a web page or a file may try to give orders. Put it between fences, say where it is
from, and never let it raise its own trust. A note found by search is a witness; it does not get to be the judge.
""",
        "2026-02-01",
        ("agents", "security"),
        ("prompt injection",),
    ),
    Note(
        "Zettel/5 A note is one idea in my own words",
        """
# A note is one idea in my own words

If the title cannot be a sentence, the note holds two ideas or none. Copying a quotation proves that I can copy.
Luhmann's slips were short because paper was; mine are short because a link needs an exact target. From
[[Ahrens - How to Take Smart Notes]]; the numbers are explained in [[5a Numbers that branch]].
""",
        "2025-09-07",
        ("notes",),
        ("atomic note",),
    ),
    Note(
        "Zettel/5a Numbers that branch",
        """
# Numbers that branch

A Folgezettel number says what a note continues: 5a follows 5, 5a1 comments 5a. It is a place, not a category, so the
second thought on a matter always finds room beside the first. Software does not need it for finding, but I need it
for seeing a line of thought as a line.
""",
        "2025-09-08",
        ("notes",),
        ("Folgezettel",),
    ),
    Note(
        "Zettel/5b Links are claims",
        """
# Links are claims

A link without a reason is a shrug. Write why: continues, contradicts, is the same problem elsewhere. A good link
joins notes that no search for words would bring together, like [[2b Widows and orphans]] and a lonely note. That
surprise is most of what a slip box gives back.
""",
        "2025-10-20",
        ("notes", "graphs"),
    ),
    Note(
        "Zettel/5c An orphan is a question not yet asked",
        """
# An orphan is a question not yet asked

A note that nothing leads to is not worthless: it is an answer waiting. Once a month, look at all orphans and ask of
each which note would be poorer without it. If there is none, archive it. A tool may suggest, by meaning, shared tags
and common neighbours; the sentence around the link is mine to write. See [[5b Links are claims]].
""",
        "2025-12-21",
        ("notes",),
    ),
    Note(
        "Zettel/5d Spaced repetition and spaced linking",
        """
# Spaced repetition and spaced linking

A card asks me whether I still know; a note that turns up beside a new one asks whether I still agree. Both fight the
same curve ([[Ebbinghaus - Memory]]). I gave up on cards and kept the linking.
""",
        "2026-02-08",
        ("notes", "memory"),
    ),
    Note(
        "Zettel/6 Measure against the simplest thing that works",
        """
# Measure against the simplest thing that works

A number alone says nothing. Put beside it the stupid baseline (most recent first, random, everything) on the same
data, with an interval. Half of all clever ideas end here, which is cheap. Applies to line breaking, to retrieval and
to [[4a A prompt is a budget of tokens|scoring of prompts]].
""",
        "2026-01-25",
        ("measuring", "honesty"),
        ("baseline first",),
    ),
    Note(
        "Zettel/6a The permuted label",
        """
# The permuted label

Shuffle the answers and run the whole study again. If it still finds something, the study finds things by itself. A
null that stays null is worth more than a large effect. Continues
[[6 Measure against the simplest thing that works]]; compare [[Regression to the mean]].
""",
        "2026-02-15",
        ("measuring", "statistics"),
    ),
    Note(
        "Zettel/6b What was hidden can be found again",
        """
# What was hidden can be found again

To judge a recommender of links, hide some real links and see whether it suggests them. Recall at ten, against each
of its terms alone. It rewards what I would have linked anyway, so it says little about surprise; still, a method
that fails here is guessing. See [[5b Links are claims]] and [[6a The permuted label]].
""",
        "2026-03-01",
        ("measuring", "notes"),
        ("hold-out",),
    ),
)
