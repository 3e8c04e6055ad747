from __future__ import annotations

import re
from urllib.parse import unquote

from markdown_it import MarkdownIt

from workbench.vault.names import stem
from workbench.vault.parser import parse_note


def run(case_input):
    """The links of a note, in the peer's names; it cuts the ending of notes off Markdown links only."""
    return [
        {
            "raw": stem(each.link.target) if is_markdown(each) else each.link.target,
            "alias": each.link.display,
            "lineNumber": each.line,
            "isEmbed": each.link.syntax.endswith("embed"),
            "isMdLink": is_markdown(each),
        }
        for each in parse_note(case_input["content"], "note.md").links
    ]


def is_markdown(placed):
    return placed.link.syntax.startswith("md_")


def holds_code(case_input):
    return "`" in case_input["content"] or "~~~" in case_input["content"]


def escapes_a_bar(case_input):
    return re.search(r"\[\[[^\]\n]*\\\|", case_input["content"]) is not None


def has_a_bracket_before_a_link(case_input):
    return "[[[" in case_input["content"]


def outside_of_code(case_input):
    """Links by plain patterns over the text that markdown-it takes for no code; a bracket is part of no name."""
    lines = case_input["content"].split("\n")
    for token in MarkdownIt("commonmark").disable("code").parse(case_input["content"]):
        if token.type == "fence":
            lines[token.map[0] : token.map[1]] = [""] * (token.map[1] - token.map[0])
    found = []
    for number, line in enumerate(lines, 1):
        shown = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
        for bang, inner in re.findall(r"(!?)\[\[([^\[\]]+)\]\]", shown):
            name, _, alias = re.sub(r"\\\|", "|", inner).partition("|")
            target = name.split("#")[0].strip()
            if target:
                found.append(row(target, alias.strip() or None, number, is_embed=bool(bang), is_md_link=False))
        for bang, alias, path in re.findall(r"(!?)\[([^\[\]]*)\]\(([^()\s:#]+)(?:#[^()\s]*)?\)", shown):
            target = re.sub(r"\.md$", "", unquote(path))
            found.append(row(target, alias or None, number, is_embed=bool(bang), is_md_link=True))
    return found


def row(raw, alias, line_number, *, is_embed, is_md_link):
    return {"raw": raw, "alias": alias, "lineNumber": line_number, "isEmbed": is_embed, "isMdLink": is_md_link}
