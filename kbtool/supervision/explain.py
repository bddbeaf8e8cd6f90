"""Asking the base: a crash's output or a stall's stacks in, entries out. Whatever fails here leaves the job's story as it is."""

from __future__ import annotations

import contextlib

from kbtool.model import Answer

TEXT_LIMIT = 8 << 20


def explain(text: str) -> Answer | None:
    """What the base knows about a text; None when it can not be asked."""
    with contextlib.suppress(Exception):  # a broken entry or index must not cost the report of a run
        from kbtool.knowledge.layers import find_layers
        from kbtool.matching.answer import answer_text
        from kbtool.matching.index import open_index

        return answer_text(text[-TEXT_LIMIT:], open_index(find_layers()))
    return None
