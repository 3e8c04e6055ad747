"""Search: text and vectors together, for every domain (PAI, Search Modes; design 4 and 11)."""
