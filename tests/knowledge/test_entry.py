"""Entry files in the shapes that people write them, and every problem at its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.knowledge.entry import examine, parse_entry
from kbtool.knowledge.problems import EntryError
from kbtool.model import Status, Verdict

PATH = Path("/base/data/disk-full.md")


def read(text: str | bytes, path: Path = PATH):
    data = text.encode("utf-8") if isinstance(text, str) else text
    return parse_entry(data, path=path, domain=path.parent.name)


def problems(text: str | bytes, path: Path = PATH) -> list[str]:
    data = text.encode("utf-8") if isinstance(text, str) else text
    return [f"{p.line}: {p.level}: {p.message}" for p in examine(data, path=path, domain="data").problems]


def test_every_part_is_read(make_entry: Callable[..., str]) -> None:
    """Title, symptom, cause, check, fix and front matter come out as written."""
    entry = read(make_entry())

    assert (entry.id, entry.domain, entry.status) == ("disk-full", "data", Status.ACTIVE)
    assert entry.title == "A loader dies because the disk is full"
    assert entry.symptoms == ("OSError: [Errno 28] No space left on device",)
    assert entry.pattern == "The cache folder lies on a small disk."
    assert entry.check is not None
    assert (entry.check.command, entry.check.confirms, entry.check.timeout) == ("true", "exit zero", 10.0)
    assert entry.fix == "Move the cache."


VARIANTS = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "lone CR": lambda text: text.replace("\n", "\r"),
    "BOM": lambda text: "\ufeff" + text,
    "tilde fences": lambda text: text.replace("```", "~~~~"),
    "long fences": lambda text: text.replace("```", "`````"),
    "no final newline": lambda text: text.rstrip("\n"),
    "Chinese headings": lambda text: text.replace("Symptom", "故障现象").replace("Root cause", "根因模式").replace("Verify", "验证命令").replace("Fix", "修复"),
    "closed headings": lambda text: text.replace("## Symptom", "## Symptom ##"),
    "underlined headings": lambda text: text.replace("## Symptom", "Symptom\n-------"),
    "headings with a colon": lambda text: text.replace("## Root cause", "##   Root cause:"),
    "upper case": lambda text: text.replace("## Verify", "## VERIFY"),
    "shell fence named bash": lambda text: text.replace("```sh", "```bash"),
    "fence without a name": lambda text: text.replace("```sh", "```"),
    "blank lines round the check": lambda text: text.replace("```sh\ntrue\n", "```sh\n\n  true\n\n"),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_shapes_that_people_write(name: str, make_entry: Callable[..., str]) -> None:
    """Line endings, fences and headings may differ; the entry is the same."""
    plain, varied = read(make_entry()), read(VARIANTS[name](make_entry()))

    assert varied == plain


def test_several_symptoms_and_not_this(make_entry: Callable[..., str]) -> None:
    """Every fence of Symptom is a wording; fences of Not this are kept apart."""
    text = make_entry().replace("## Root cause", "```text\nsecond\n```\n\n## Not this\n\n```text\nother\n```\n\n## Root cause")

    assert read(text).symptoms[1:] == ("second",)
    assert read(text).not_this == ("other",)


def test_headings_inside_a_fence_are_text(make_entry: Callable[..., str]) -> None:
    """A symptom that contains Markdown does not open sections."""
    entry = read(make_entry(symptom="# not a title\n## Verify\n---"))

    assert entry.symptoms == ("# not a title\n## Verify\n---",)


def test_outcomes_are_read(make_entry: Callable[..., str]) -> None:
    """Rows are outcomes with their counts; a row written otherwise is left alone."""
    table = (
        "\n## Outcomes\n\n| When | Outcome | Check | Exit | Time | Environment | Note |\n| --- | --- | --- | --- | --- | --- | --- |\n"
        "| 2026-11-30 16:20Z | confirmed ×8 | 5f0c2a91 | 0 | 12 ms | linux · py3.11 | a \\| b |\n"
        "| some day | it worked | | | | | |\n| 2026-12-01 10:00Z | refuted | 5f0c2a91 | 1 | 1.5 s | linux | |\n"
    )
    outcomes = read(make_entry() + table).outcomes

    assert [(o.verdict, o.count) for o in outcomes] == [(Verdict.CONFIRMED, 8), (Verdict.REFUTED, 1)]
    assert (outcomes[0].seconds, outcomes[1].seconds, outcomes[0].note) == (0.012, 1.5, "a | b")


def test_the_digest_follows_the_check_only(make_entry: Callable[..., str]) -> None:
    """Editing prose keeps the digest; command, confirms, needs and timeout each change it."""
    plain = read(make_entry()).check
    prose = read(make_entry(fix="Something else.", title="Another title")).check
    edits = [
        make_entry(verify="true "[:4] + " # x"),
        make_entry(confirms="exit nonzero"),
        make_entry().replace("status:", "needs: [linux]\nstatus:"),
        make_entry().replace("status:", "timeout: 11s\nstatus:"),
        make_entry().replace("```sh", "```python"),
    ]
    assert plain is not None and prose is not None
    digests = {check.digest for text in edits if (check := read(text).check)}

    assert plain.digest == prose.digest
    assert len(digests | {plain.digest}) == 6


BROKEN = {
    "no title": (lambda t: t.replace("# A loader dies because the disk is full", ""), "7: error: has no title"),
    "no symptom section": (lambda t: t.replace("## Symptom", "## Something"), "error: has no `## Symptom`"),
    "symptom without a fence": (lambda t: t.replace("```text\nOSError: [Errno 28] No space left on device\n```", "it dies"), "10: error: Symptom holds"),
    "no root cause": (lambda t: t.replace("## Root cause", "## Reason of sorts"), "error: has no `## Root cause`"),
    "two checks": (lambda t: t.replace("```sh\ntrue\n```", "```sh\ntrue\n```\n\n```sh\nfalse\n```"), "20: error: Verify holds 2 fences"),
    "two lines": (lambda t: t.replace("```sh\ntrue\n", "```sh\ntrue\nfalse\n"), "22: error: the check has 2 lines"),
    "check in another language": (lambda t: t.replace("```sh", "```ruby"), "22: error: `ruby`"),
    "misspelt status": (lambda t: t.replace("active", "activ"), "4: error: status: `activ` is none of draft, active, retired"),
    "bad confirms": (lambda t: t.replace("exit zero", "stdout <"), "3: error: confirms: `stdout <`"),
    "bad regular expression": (lambda t: t.replace("exit zero", "stdout matches (a"), "3: error: confirms: `(a` is no regular"),
    "bad date": (lambda t: t.replace("2026-11-30", "yesterday"), "5: error: created: `yesterday`"),
    "bad need": (lambda t: t.replace("status:", "needs: [torhc]\nstatus:"), "4: error: needs: `torhc`"),
    "bad timeout": (lambda t: t.replace("status:", "timeout: soon\nstatus:"), "4: error: timeout: `soon`"),
    "unknown key": (lambda t: t.replace("status:", "statsu:"), "4: warning: unknown key `statsu`; did you mean `status`?"),
    "unclosed front matter": (lambda t: t.replace("---\n\n#", "\n#"), "1: error: front matter is opened"),
    "a NUL byte": (lambda t: t.replace("Move", "Mo\0ve"), "28: error: holds a NUL byte"),
    "no check": (lambda t: t.replace("## Verify", "## Something"), "warning: has no `## Verify`"),
    "no fix": (lambda t: t.replace("Move the cache.", ""), "26: warning: has no `## Fix`"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_problems_name_their_line(name: str, make_entry: Callable[..., str]) -> None:
    """Each kind of mistake is reported once, at its line, in words that say what is expected."""
    change, expected = BROKEN[name]
    found = problems(change(make_entry()))

    assert [line for line in found if expected in line], found


def test_bytes_that_are_no_text() -> None:
    """Invalid UTF-8 is a problem of that file with its line, not a crash."""
    assert problems(b"---\nstatus: active\n---\n\n# T\xff\n") == ["5: error: is not UTF-8 (byte 0xff)"]


def test_all_errors_at_once(make_entry: Callable[..., str]) -> None:
    """The exception carries every problem and its message names the first with the command that lists all."""
    with pytest.raises(EntryError) as caught:
        read(make_entry(confirms="maybe").replace("## Root cause", "## R").replace("active", "x"))

    assert len(caught.value.problems) == 3
    assert "(and 2 more)" in caught.value.message
    assert "kb lint" in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["A.md", "ab.md", "über.md", "1a-b.md", "a_b.md", "x" * 81 + ".md"])
def test_ids_are_plain(name: str, make_entry: Callable[..., str]) -> None:
    """A file whose name is no id is not an entry."""
    assert any("is no id" in line for line in problems(make_entry(), PATH.with_name(name)))
