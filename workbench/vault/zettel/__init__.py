"""The six operations of PAI's "Zettelkasten Intelligence", each a pure function of frames; PAI specification, 18."""
