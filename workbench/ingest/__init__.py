"""From foreign files to rows: discovery, one reader a format, merging, deriving (design, section 5).

A reader turns one file into `Record`s. Everything after that is common: `merge` makes one ordered list of events of a
session out of all its sources, `derive` makes the rows of every table out of the events, `importer` does the I/O.
"""
