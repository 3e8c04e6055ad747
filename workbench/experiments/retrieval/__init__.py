"""How well search finds: judged queries against grep, words, meaning and their mixtures, with intervals and costs."""
