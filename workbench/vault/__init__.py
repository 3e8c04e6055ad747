"""A folder of notes: read, taken apart, links resolved, kept as tables, and thought with.

Follows PAI's Vault Tables and Zettelkasten Intelligence, and what Obsidian does where those are silent. Reading order:
`walk` finds files, `parser` takes a note apart (`front_matter`, `code`, `links`, `tags`, `marks`), `names` resolves
names, `link_class` tells what continues what, `index` brings a vault's rows up to date.
"""
