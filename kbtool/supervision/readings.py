"""What a look at something that runs has found: one sentence each, with a word that scripts can rely on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """One finding. `kind` is a stable word, `text` the sentence for a person."""

    kind: str
    text: str

    def to_json(self) -> dict[str, str]:
        """The reading as `--json` gives it."""
        return {"kind": self.kind, "text": self.text}
