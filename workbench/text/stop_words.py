"""English words that say nothing of a text.

Source: PRAANA src/state-graph.ts (the list of the first pass of auto-hydration).
"""

from __future__ import annotations

from typing import Final

_WORDS: Final = (
    "a an the is are was were be been being am have has had do does did will would could should may might must shall "
    "can need ought to of in for on with at by from as into through during before after above below between under "
    "again further then once here there when where why how all each few more most other some such no nor not only own "
    "same so than too very just and but if or because until while what which who whom this that these those it its "
    "they them their i me my we our you your he him his she her hers "
)
STOP_WORDS: Final = frozenset(_WORDS.split())
