"""Redaction: every rule's true and false positives, and what holds for all of them."""

from __future__ import annotations

import time

import pytest

try:
    import re._parser as regex_parser
except ImportError:  # Python 3.10
    import sre_parse as regex_parser

from kbtool.knowledge.redaction import PLACEHOLDER, preview, redact
from kbtool.knowledge.redaction_rules import RULES, Rule
from tests.knowledge.redaction_examples import CONTEXTS, HEX40, IN_CONTEXT, PREFIXED, drawn

POSITIVES = [(name, context.format(token), token) for name, (token, _) in PREFIXED.items() for context in CONTEXTS] + [
    (name, text, secret) for name, (positives, _) in IN_CONTEXT.items() for text, secret in positives
]
NEGATIVES = [(name, text) for name, (_, negatives) in (*PREFIXED.items(), *IN_CONTEXT.items()) for text in negatives]

UNTOUCHED = """\
[rank3]:[E1130 12:30:45.123456789 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout
tensor([[ 0.1234, -1.5000e+00], [nan, inf]], device='cuda:0', dtype=torch.float16)
torch 2.13.0+cpu, cuDNN 9.1.0.70, driver 535.104.05, git 7f3c2a9e4b8d1c6f5a0e9d8c7b6a5f4e3d2c1b0a
RuntimeError: CUDA error at 0x7f3a5c0012f0 (most recent call first): ncclUniqueId 0x8f3b2c1d4e5f6a7b
/usr/lib/python3.11/site-packages/torch/nn/modules/module.py:1511 in _call_impl
123e4567-e89b-12d3-a456-426614174000 2026-11-30T16:20:45Z {'input_ids': [101, 7592, 102], 'pad_token': '[PAD]'}
"""


@pytest.mark.parametrize(("rule", "text", "secret"), POSITIVES)
def test_every_kind_of_secret_is_taken_out(rule: str, text: str, secret: str) -> None:
    """A secret of each kind is gone from the text, whatever stands around it."""
    assert secret not in redact(text).text


@pytest.mark.parametrize(("rule", "text", "secret"), [case for case in POSITIVES if case[0] in IN_CONTEXT or case[1] == case[2]])
def test_the_rule_of_its_kind_finds_it(rule: str, text: str, secret: str) -> None:
    """A secret is named by the rule made for it, not caught by another one's luck."""
    assert rule in {name for name, _ in redact(text).replacements}


@pytest.mark.parametrize(("rule", "text"), NEGATIVES)
def test_what_only_looks_like_a_secret_stays(rule: str, text: str) -> None:
    """A rule leaves its false positives alone."""
    assert rule not in {name for name, _ in redact(text).replacements}


def test_every_rule_has_its_examples() -> None:
    """No rule without at least five true and five false positives."""
    for rule in RULES:
        positives = [case for case in POSITIVES if case[0] == rule.name]
        negatives = [case for case in NEGATIVES if case[0] == rule.name]
        assert len(positives) >= 5, rule.name
        assert len(negatives) >= 5, rule.name


def test_what_a_failure_is_known_by_stays() -> None:
    """Hashes, ids, versions, tensors, addresses in memory, times and code stay as they are."""
    assert redact(UNTOUCHED).text == UNTOUCHED


def test_a_second_pass_changes_nothing() -> None:
    """Redacted text is stable: what is redacted again stays the same."""
    for _, text, _ in POSITIVES:
        once = redact(text).text
        assert redact(once).text == once


def test_no_marker_in_the_text_switches_a_rule_off() -> None:
    """Neither a placeholder nor a comment in the input protects a secret beside it."""
    token = PREFIXED["huggingface-token"][0]
    for text in (f"[hidden:{token}", f"[hidden:x]{token}", f"{token} # noqa allowlist secret", f"[hidden:{token}]"):
        assert token not in redact(text).text


def test_replacements_name_rule_and_text_and_preview_shows_no_secret() -> None:
    """The caller learns what went and why; the preview for a person only counts kinds."""
    redacted = redact("mail a1@example.com, b2@example.com; password=hunter2")

    assert ("email", "a1@example.com") in redacted.replacements
    assert sorted(preview(redacted)) == ["email ×2", "password"]
    assert redact("nothing here").replacements == ()


def test_every_byte_around_a_secret_stays() -> None:
    """Only the secret gives way: line ends, tabs and other scripts stay."""
    assert redact("错误\tpassword=hunter2\r\n\u0130 x\n").text == "错误\tpassword=[hidden:password]\r\n\u0130 x\n"


def _adversarial(rule: Rule) -> list[str]:
    keyword = rule.keywords[0] if rule.keywords else "a"
    size = 1 << 20
    return [
        (keyword * (size // len(keyword) + 1))[:size],
        keyword + "a" * size,
        "a" * size + keyword,
        ((keyword + "a1B=:/@. ") * (size // len(keyword)))[:size],
        "\n".join([keyword] * (size // (len(keyword) + 1))),
    ]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name}-{RULES.index(rule)}")
def test_no_pattern_explodes(rule: Rule) -> None:
    """A pattern and its filter stay linear on a mebibyte made to hurt them."""
    for text in _adversarial(rule):
        started = time.process_time()
        for found in rule.regex.finditer(text):
            if rule.accept is not None:
                rule.accept(found)
        assert time.process_time() - started < 2.0  # quadratic would be minutes


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name}-{RULES.index(rule)}")
def test_patterns_have_no_nested_repetition(rule: Rule) -> None:
    """No repeated group holds a repetition."""
    parsed = regex_parser.parse(rule.pattern)
    assert not _nested(parsed, inside=False)


def _nested(tree: object, *, inside: bool) -> bool:
    for operation, value in tree:  # type: ignore[attr-defined]
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            _, most, body = value
            repeats = most > 1
            if repeats and inside or _nested(body, inside=inside or repeats):
                return True
        elif name == "SUBPATTERN":
            if _nested(value[3], inside=inside):
                return True
        elif name == "BRANCH" and any(_nested(branch, inside=inside) for branch in value[1]):
            return True
    return False


def test_a_mebibyte_of_log_is_quick() -> None:
    """A mebibyte of log full of keywords takes a moment, not seconds."""
    line = f"[rank0]: token password secret host @ :// nccl . {HEX40} /home/alice/x 10.0.0.1 loss=0.1234 {drawn(12)}\n"
    text = line * ((1 << 20) // len(line))
    started = time.process_time()
    redact(text)
    assert time.process_time() - started < 5.0


def test_placeholders_are_recognisable() -> None:
    """Everything that was taken out left a placeholder or a home's `~`."""
    for _, text, _ in POSITIVES:
        assert PLACEHOLDER.search(redact(text).text) or "~" in redact(text).text
