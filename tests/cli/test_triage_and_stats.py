"""`kb triage` and `kb stats` as a person and a program use them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Kb, build_base
from tests.terminals import terminal

LOG = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nValueError: data failure of alice@example.com in the loom\n"


def state(kb: Kb, base: Path, *arguments: str, **options: str) -> dict[str, object]:
    """The triage after a command."""
    done = kb("triage", "--json", *arguments, entries=base, **options)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_a_program_goes_through_the_four_steps(kb: Kb, base: Path) -> None:
    """Log in, what kb sees filled in, sentences and hypotheses by flags, the stop in the JSON, the end."""
    first = state(kb, base, input=LOG)
    assert first["step"] == "anchor"
    assert first["missing"] == ["condition"]
    assert "ValueError: data failure of [hidden:email]" in first["anchor"]["observed"]  # type: ignore[index]
    assert "py3" in first["anchor"]["environment"]  # type: ignore[index]

    second = state(kb, base, "--condition", "with two workers, not with none")
    assert second["step"] == "verify"
    assert second["domain"]["name"] == "data"  # type: ignore[index]
    assert second["domain"]["first_action"] == "Look at the data first."  # type: ignore[index]

    for number in range(2):
        state(kb, base, "--hypothesis", f"idea {number}", "--check", "true")
        last = state(kb, base, "--result", "refuted", "--note", "it was not")
    assert (last["step"], last["stop"], last["refuted_in_a_row"]) == ("back", True, 2)

    refused = kb("triage", "--hypothesis", "a third", entries=base)
    assert refused.returncode == 2
    assert "step back" in refused.stderr

    again = state(kb, base, "--observed", "ValueError: data failure, after a KeyError")
    assert (again["stop"], len(again["earlier_anchors"])) == (False, 1)  # type: ignore[arg-type]
    state(kb, base, "--hypothesis", "the loom is old", "--check", "true")
    assert state(kb, base, "--result", "confirmed")["step"] == "converged"
    assert state(kb, base, "--done")["step"] == "closed"
    assert state(kb, base)["hypotheses"] == []


def test_verify_counts_as_a_hypothesis(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Two entries whose checks are refuted force the step back without a further word."""
    base = build_base(tmp_path / "base" / "entries", {f"data/fault-{n}": make_entry(title=f"T{n}", symptom=f"RuntimeError: data failure {n}", verify="false") for n in "ab"})
    state(kb, base, "--condition", "always", input="RuntimeError: data failure\n")
    for name in ("fault-a", "fault-b"):
        kb("allow", name, entries=base)
        assert kb("verify", name, entries=base).returncode == 1

    after = state(kb, base)

    assert after["stop"] is True
    assert [each["check"] for each in after["hypotheses"]] == ["kb verify fault-a", "kb verify fault-b"]  # type: ignore[attr-defined]


def test_what_a_person_types_is_redacted_too(kb: Kb, base: Path, own_world: Path) -> None:
    """Sentences and hypotheses are kept without secrets and still read back."""
    state(kb, base, "--condition", "password=hunter2 or not", input=LOG)
    after = state(kb, base, "--hypothesis", "bob@example.com changed it", "--check", "true")

    assert after["hypotheses"][0]["text"] == "bob@example.com changed it"  # type: ignore[index]
    again = state(kb, base)
    assert again["hypotheses"][0]["text"] == "[hidden:email] changed it"  # type: ignore[index]
    assert again["anchor"]["condition"] == "password=[hidden:password] or not"  # type: ignore[index]
    assert not [path for path in own_world.rglob("*") if path.is_file() and (b"hunter2" in path.read_bytes() or b"bob@" in path.read_bytes())]


def test_the_last_match_begins_it(kb: Kb, base: Path) -> None:
    """Without a log the failure of the last match is observed; `--new` begins again."""
    kb("match", input=LOG, entries=base)

    assert "data failure" in state(kb, base)["anchor"]["observed"]  # type: ignore[index]
    state(kb, base, "--condition", "once")
    assert state(kb, base, "--new")["missing"] == ["condition"]


def test_a_person_is_led_through(base: Path, tmp_path: Path) -> None:
    """At a terminal each step is asked for, the check runs when the person says so, and leaving keeps the state."""
    with terminal("triage", cwd=tmp_path, entries=base) as screen:
        screen.expect("1. What is observed?")
        screen.type("data failure in the loom")
        screen.expect("2. When does it reproduce")
        screen.type("always")
        screen.expect("3. The environment")
        screen.type("")
        screen.expect("domain: data")
        screen.expect("Hypothesis")
        screen.type("the loom is missing")
        screen.expect("smallest check")
        screen.type("echo loom-is-there")
        screen.expect("here now?")
        screen.type("y")
        screen.expect("loom-is-there\n")
        screen.expect("It is c:")
        screen.type("r")
        screen.expect("Hypothesis")
        screen.type("")
        screen.expect("kept")
        assert screen.end() == 0
    with terminal("triage", cwd=tmp_path, entries=base) as screen:
        screen.expect("refuted: the loom is missing")
        screen.expect("Hypothesis")
        screen.interrupt(until="kept")
        assert screen.end() == 0


@pytest.mark.parametrize(("arguments", "said"), [(("--result", "perhaps"), "is no verdict"), (("--domain", "kitchen"), "no domain"), (("--result", "refuted"), "no hypothesis")])
def test_mistakes_are_told(kb: Kb, base: Path, arguments: tuple[str, ...], said: str) -> None:
    """A wrong word is an error that names the right ones."""
    done = kb("triage", *arguments, entries=base)

    assert done.returncode == 2
    assert said in done.stderr


def test_stats_count_by_month(kb: Kb, base: Path) -> None:
    """Incidents, misses, verdicts and first answers that were right are counted in their month."""
    log = "OSError: [Errno 28] No space left on device\n"
    kb("match", input="ValueError: nobody knows this loom\n", entries=base)
    kb("match", input=log, entries=base)
    kb("allow", "disk-full", entries=base)
    assert kb("verify", entries=base).returncode == 0

    (month,) = json.loads(kb("stats", "--json", entries=base).stdout)["months"]

    assert {name: month[name] for name in ("answered", "missed", "confirmed", "refuted", "first_right", "decided")} == {
        "answered": 1,
        "missed": 1,
        "confirmed": 1,
        "refuted": 0,
        "first_right": 1,
        "decided": 1,
    }
    assert "1 of 1" in kb("stats", entries=base).stdout


def test_an_empty_journal_has_no_months(kb: Kb, base: Path) -> None:
    """Without a journal there is nothing to count, and the hint says what fills it."""
    done = kb("stats", entries=base)

    assert done.returncode == 0
    assert "journal is empty" in done.stderr
