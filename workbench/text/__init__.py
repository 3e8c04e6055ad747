"""Pure functions of text that every domain shares: token estimate, BM25, similarity, ids.

Follows PRAANA (token estimate, BM25, cosine, ULIDs) and PAI (Jaccard, content hashes). Nothing here opens a file,
reads a clock that was not asked for, or imports another part of workbench but its errors.
"""
