"""The sections of an entry and of a domain page, and the headings that people write them under.

A table, so that a team can read and extend it: the first name is the one kb writes. Compared without case, colons and numbering.
"""

from __future__ import annotations

import re
from functools import lru_cache

SYMPTOM = "symptom"
NOT_THIS = "not this"
ROOT_CAUSE = "root cause"
VERIFY = "verify"
FIX = "fix"
OUTCOMES = "outcomes"
GUARD = "guard"
NOTES = "notes"
FIRST_ACTION = "first action"
MINIMAL_CHECK = "minimal check"
GO_BACK_WHEN = "go back when"

HEADINGS: dict[str, tuple[str, ...]] = {
    SYMPTOM: ("Symptom", "Symptoms", "Failure", "Failure phenomenon", "故障现象", "现象", "症状", "エラー", "症状と現象", "Síntoma", "Symptôme", "Симптом", "증상"),
    NOT_THIS: ("Not this", "Not to be confused with", "并非此故障", "不是这个", "易混淆", "Nicht dies"),
    ROOT_CAUSE: ("Root cause", "Cause", "Root-cause pattern", "根因模式", "根因", "原因", "根本原因", "Ursache", "Causa", "Cause première", "Причина", "원인"),
    VERIFY: ("Verify", "Verify command", "Check", "验证命令", "验证", "検証", "確認", "Prüfung", "Verificar", "Vérifier", "Проверка", "확인"),
    FIX: ("Fix", "Solution", "Remedy", "修复", "解决方案", "解决方法", "修正", "対処", "Lösung", "Solución", "Correctif", "Решение", "해결"),
    OUTCOMES: ("Outcomes", "History", "验证记录", "结果", "検証結果", "Ergebnisse"),
    GUARD: ("Guard", "守卫", "防护", "ガード"),
    NOTES: ("Notes", "Note", "备注", "メモ", "Notizen"),
    FIRST_ACTION: ("First action", "First aid", "第一步", "首要动作", "最初の一手"),
    MINIMAL_CHECK: ("Minimal check", "Smallest check", "最小验证", "最小確認"),
    GO_BACK_WHEN: ("Go back when", "何时回退", "戻る条件"),
}

_NUMBERING = re.compile(r"^\s*(?:\d+[.)、:]?\s+)?(.*?)\s*[:：]?\s*$")


def _plain(heading: str) -> str:
    found = _NUMBERING.match(heading)
    return (found.group(1) if found else heading).strip("*_` ").casefold()


_BY_HEADING = {_plain(word): name for name, words in HEADINGS.items() for word in words}


@lru_cache(1024)
def section_name(heading: str) -> str | None:
    """The section that `heading` opens, or None for one of the author's own."""
    return _BY_HEADING.get(_plain(heading))


def written_heading(name: str) -> str:
    """The heading kb writes for a section."""
    return HEADINGS[name][0]
