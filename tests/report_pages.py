"""A page as a reader of its source sees it, and text that tries to be more than text."""

from html.parser import HTMLParser

FRAME = {"html", "head", "meta", "title", "style", "body"}
"""Elements of the frame, which no text comes near."""

VOID = {"meta", "br", "hr"}

HOSTILE = (
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=2>",
    "</style><style>*{display:none}</style>",
    '"><svg onload=window.pwned=3><a href="javascript:window.pwned=4">x</a>',
    "</title></svg></text><iframe src=https://example.com></iframe>",
    "<!-- <script> ]]> ' ` a=1&b=2 and &amp; and &lt;b&gt;",
    "\x1b[31mFAIL\x1b[0m \x1b]8;;https://example.com\x07link\x1b]8;;\x07 \x1b]52;c;ZmFrZQ==\x07\x9b31m end",
    "abc\u202edef\u2066ghi\u200b",
    "nul\x00bell\x07back\bspace\x7f",
    "url(https://example.com/x.png) {{7*7}} ${7*7}",
    "half a pair \ud800 and the end \uffff",
    "long " + "x" * 1_000_000,
)


class Page(HTMLParser):
    """What elements a page has, with which attributes, and the text of each element that has an id."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts = set(), [], {}
        self._open = []
        self.feed(html)
        self.close()
        assert self._open == [], "every element is closed"

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        name = dict(attrs).get("id")
        if name is not None:
            assert name not in self.texts, f"the id {name} stands once"
            self.texts[name] = []
        if tag not in VOID:
            self._open.append((tag, name))

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        for _, name in self._open:
            if name is not None:
                self.texts[name].append(data)

    def text(self, name):
        """The text of an element, a space between pieces and runs of spaces as one."""
        return " ".join(" ".join(self.texts[name]).split())

    def ids(self):
        return set(self.texts)
