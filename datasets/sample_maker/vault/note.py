"""A note as it is written to disk."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Note:
    """One Markdown file.

    Attributes:
        path: Below the vault, without ending.
        body: The text below the front matter.
        created: Day in the front matter; no such line when empty.
        tags: In the front matter.
        aliases: In the front matter.
        fields: Further lines of the front matter, as YAML.
    """

    path: str
    body: str
    created: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    fields: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The file."""
        head = [f"created: {self.created}"] if self.created else []
        head += [f"tags: [{', '.join(self.tags)}]"] if self.tags else []
        head += ["aliases:", *(f"  - {alias}" for alias in self.aliases)] if self.aliases else []
        head += [f"{key}: {value}" for key, value in self.fields.items()]
        front = "\n".join(["---", *head, "---", "", ""]) if head else ""
        return f"{front}{self.body.strip()}\n"
