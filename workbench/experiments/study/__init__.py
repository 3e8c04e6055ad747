"""Studies: are other settings better than the ones in use, and how sure is that (`docs/experiments.md`).

A space of settings (`space`), something to be judged by (`objective`), parts of the data that know nothing of each
other (`folds`), a search (`search`), its gain where it did not search (`nested`), and what the same search gains on
labels that mean nothing (`null`). These know nothing of weights or prompts. `steps`, `policies`, `measures`, `scoring`,
`baselines` and `ranker` are the first use: weights of context units. `run` puts a study together, `record` keeps it.

Source: design, "Study"; the prototype of the study.
"""
