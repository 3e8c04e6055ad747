"""What every report stands on: safe markup, a page frame, tables, charts, numbers for people, and the manifest.

`html` builds markup in which no text can become an element; `text` shows what a transcript holds and lets none of it
act. `page` frames sections, `tables` and `charts` fill them; `manifest` says what a report was made from.
"""
