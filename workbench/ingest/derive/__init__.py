"""From the events of one session to its rows, one module a table; the same for every agent (design, section 6).

Each function is pure and gives tuples in the order of the table's declared columns; `session.derive` puts them
together.
"""
