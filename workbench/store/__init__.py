"""Our own data on disk: Delta tables, event logs, the archive of imported sources.

Only this package opens them. It knows no domain: what a row means is declared in `tables/`, and what rows a session
has is decided by the functions that landing is handed. Design, sections 3 and 4.
"""
