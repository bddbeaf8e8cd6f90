"""Several known causes, one message: the checks decide, and say in one line what they decided."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.errors import ExitStatus
from kbtool.journal.journal import open_journal
from kbtool.journal.records import RunSummary
from kbtool.model import Answer, Check, Confidence, Entry, Match, Verdict
from kbtool.verification.rivals import rerank, sentence
from kbtool.verification.several import Attempt, cost, exit_status, uses_accelerator
from kbtool.verification.targets import Target
from tests.conftest import Kb, build_base

SYMPTOM = "OSError: [Errno 28] No space left on device"
LOG = f'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    save()\n{SYMPTOM}\n'


def match(name: str, score: float) -> Match:
    """A candidate."""
    return Match(name, name, "data", score, Confidence.POSSIBLE, "cause.", "true", "exit zero", "fix", "path")


def test_confirmed_goes_up_and_refuted_down() -> None:
    """Verdicts order the candidates before the text does; scores follow, and `strong` keeps its meaning."""
    answer = Answer(None, (match("one", 0.6), match("two", 0.5), match("three", 0.4), match("four", 0.3)))

    settled = rerank(answer, {"one": Verdict.REFUTED, "three": Verdict.CONFIRMED, "four": Verdict.INCONCLUSIVE})

    assert [item.id for item in settled.matches] == ["three", "two", "four", "one"]
    scores = {item.id: item.score for item in settled.matches}
    assert scores["three"] > 0.95 and scores["two"] == 0.5 and scores["four"] == 0.3 and scores["one"] < 0.05
    assert [item.id for item in settled.matches if item.confidence is Confidence.STRONG] == ["three"]


@pytest.mark.parametrize(
    ("candidates", "verdicts", "said"),
    [
        (3, {"a": Verdict.CONFIRMED, "b": Verdict.REFUTED, "c": Verdict.REFUTED}, "3 known causes of this message; 1 confirmed, 2 refuted here"),
        (1, {"a": Verdict.INCONCLUSIVE}, "1 known cause of this message; 1 inconclusive here"),
        (2, {"a": Verdict.CONFIRMED}, "2 known causes of this message; 1 confirmed, 1 not checked here"),
        (0, {}, "no known cause, so nothing was checked"),
    ],
)
def test_the_decision_in_one_line(candidates: int, verdicts: dict[str, Verdict], said: str) -> None:
    """How many causes are known and what became of them."""
    assert sentence(candidates, verdicts) == said


@pytest.fixture
def rivals(tmp_path: Path, make_entry: Callable[..., str]) -> Path:
    """Three entries with the same message; the check of the one with the least telling name is right."""
    checks = {"disk-full": "false", "inodes-full": "true", "quota-reached": "no-such-command-here"}
    return build_base(tmp_path / "entries", {f"data/{name}": make_entry(symptom=SYMPTOM, verify=check, title=f"Cause {name}") for name, check in checks.items()})


def test_match_verify_settles_it(kb: Kb, rivals: Path) -> None:
    """The confirmed rival is first, the refuted one last, the sentence says it, each outcome is recorded; the status is match's."""
    kb("allow", "disk-full", "inodes-full", "quota-reached", entries=rivals)

    done = kb("match", "--verify", "--json", input=LOG, entries=rivals)

    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert [(item["id"], item["verdict"]) for item in document["matches"]] == [
        ("inodes-full", "confirmed"),
        ("quota-reached", "inconclusive"),
        ("disk-full", "refuted"),
    ]
    assert document["verified"] == "3 known causes of this message; 1 confirmed, 1 refuted, 1 inconclusive here"
    assert document["schema"] == 1
    for name, verdict in (("inodes-full", "confirmed"), ("disk-full", "refuted"), ("quota-reached", "inconclusive")):
        assert f"| {verdict} |" in (rivals / "data" / f"{name}.md").read_text()


def test_without_permission_nothing_runs_and_match_answers(kb: Kb, rivals: Path, tmp_path: Path) -> None:
    """`match --verify` on a pipe asks nobody: what is not allowed keeps its place, and the command that allows it is named."""
    kb("allow", "disk-full", entries=rivals)

    done = kb("match", "--verify", "--json", input=LOG, entries=rivals)

    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert {item["id"]: item["verdict"] for item in document["matches"]} == {"disk-full": "refuted", "inodes-full": None, "quota-reached": None}
    assert "kb allow inodes-full" in done.stderr
    assert "Outcomes" not in (rivals / "data" / "inodes-full.md").read_text()


def test_verify_names_what_it_takes_from_the_last_match(kb: Kb, rivals: Path) -> None:
    """Without arguments the best of the last match is named and run; a number takes another; `--all-matched` all of them."""
    assert "nothing was matched in this terminal yet" in kb("verify", entries=rivals).stderr
    kb("allow", "disk-full", "inodes-full", "quota-reached", entries=rivals)
    first, second, third = (item["id"] for item in json.loads(kb("match", "--json", input=LOG, entries=rivals).stdout)["matches"])

    assert f"checking `{first}` of the last match" in kb("verify", entries=rivals).stderr
    assert kb("verify", "2", entries=rivals).stdout.startswith(second)
    assert "so there is no number 4" in kb("verify", "4", entries=rivals).stderr
    everything = kb("verify", "--all-matched", "--json", entries=rivals)
    assert [item["id"] for item in json.loads(everything.stdout)] == [first, second, third]
    assert everything.returncode == 0, "one confirmed"


def test_the_json_of_verify(kb: Kb, rivals: Path) -> None:
    """The fields that scripts rely on, for what ran and for what was not allowed."""
    kb("allow", "disk-full", entries=rivals)

    ran = json.loads(kb("verify", "disk-full", "--json", entries=rivals).stdout)
    refused = kb("verify", "inodes-full", "--json", entries=rivals)

    assert [set(item) for item in ran] == [{"id", "verdict", "reason", "exit_code", "seconds", "recorded"}]
    assert (ran[0]["verdict"], ran[0]["exit_code"], ran[0]["recorded"]) == ("refuted", 1, True)
    assert refused.returncode == 2 and json.loads(refused.stdout)[0]["verdict"] is None


def test_repeat_confirms_what_shows_only_sometimes(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """With `--repeat` one confirmation among refutations is enough, and the count is told."""
    counter = tmp_path / "counter"
    check = f'echo x >> {counter}; test "$(wc -l < {counter})" -eq 3'
    base = build_base(tmp_path / "entries", {"data/flaky-fault": make_entry(verify=check)})
    kb("allow", "flaky-fault", entries=base)

    done = kb("verify", "flaky-fault", "--repeat", "5", entries=base)

    assert (done.returncode, "1 of 5 runs" in done.stdout) == (0, True), done
    assert (base / "data" / "flaky-fault.md").read_text().count("| confirmed |") == 1


def test_dry_run_shows_and_runs_nothing(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """`--dry-run` shows command, needs, consent and the python used; nothing runs even where it may."""
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry(verify=f"touch {tmp_path / 'ran'}")})
    kb("allow", "some-fault", entries=base)

    row = json.loads(kb("verify", "some-fault", "--dry-run", "--json", entries=base).stdout)[0]

    assert row["consent"] == "allowed" and row["command"].startswith("touch") and row["python"]
    assert not (tmp_path / "ran").exists()


def test_a_prefix_runs_it_elsewhere(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """`--via` puts the prefix before the check, is part of the permission, and stands in the outcome."""
    tool = tmp_path / "behind"
    tool.write_text('#!/bin/sh\nPLACE=there exec "$@"\n')
    tool.chmod(0o755)
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry(verify='test "$PLACE" = there')})
    kb("allow", "some-fault", entries=base)
    assert kb("verify", "some-fault", entries=base).returncode == 1
    assert kb("verify", "some-fault", "--via", str(tool), entries=base).returncode == 2
    kb("allow", "some-fault", "--via", str(tool), entries=base)

    done = kb("verify", "some-fault", "--via", str(tool), entries=base)

    assert done.returncode == 0, done
    assert f"via {tool}" in (base / "data" / "some-fault.md").read_text()


def test_a_place_that_is_not_reached_is_inconclusive(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """A container that is not there says nothing about the fault."""
    tool = tmp_path / "docker"
    tool.write_text("#!/bin/sh\necho 'Error response from daemon: No such container: C' >&2\nexit 1\n")
    tool.chmod(0o755)
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry(confirms="exit nonzero")})
    kb("allow", "some-fault", "--via", f"{tool} exec C", entries=base)

    done = kb("verify", "some-fault", "--via", f"{tool} exec C", entries=base)

    assert done.returncode == 3 and "did not reach its place" in done.stdout


def test_a_job_under_kb_run_lends_its_surroundings(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """The check of a failure that `kb run` saw runs in that job's folder and with its variables, hidden values left out."""
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry(symptom=SYMPTOM, verify='test -e here -a "$OMP_NUM_THREADS" = 3 -a -z "$HF_TOKEN"')})
    kb("allow", "some-fault", entries=base)
    kb("match", input=LOG, entries=base)
    assert kb("verify", entries=base).returncode == 1
    job, records = tmp_path / "job", tmp_path / "run"
    for folder in (job, records):
        folder.mkdir()
    (job / "here").write_text("")
    variables = {"OMP_NUM_THREADS": "3", "HF_TOKEN": "[hidden:huggingface-token]"}
    (records / "run.json").write_text(json.dumps({"cwd": str(job), "interpreter": sys.executable, "variables": variables}))
    with open_journal() as journal:
        journal.remember_run(RunSummary("python train.py", str(records), 1, None, 1.0), match_id=1)

    done = kb("verify", entries=base)

    assert done.returncode == 0, done
    assert f"in the surroundings of the job: {job}" in done.stderr


def test_a_scratch_folder_is_empty_and_goes_away(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """`--scratch` gives the check an empty folder of its own; without it the check runs where the person stands."""
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry(verify="ls -A | wc -l; pwd > /dev/null", confirms="stdout == 0")})
    kb("allow", "some-fault", entries=base)
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "file").write_text("")

    assert kb("verify", "some-fault", entries=base, cwd=tmp_path / "job").returncode == 1
    assert kb("verify", "some-fault", "--scratch", entries=base, cwd=tmp_path / "job").returncode == 0


def test_cheap_checks_first_and_accelerators_alone() -> None:
    """Checks with a short limit come first; those that need an accelerator do not run side by side."""
    quick, slow, python = Check("true", timeout=1.0), Check("true", timeout=60.0), Check("python -c 1", timeout=1.0)

    assert sorted([slow, python, quick], key=cost) == [quick, python, slow]
    assert uses_accelerator(Check("true", needs=("linux", "gpus>=2"))) and uses_accelerator(Check("true", needs=("cuda",)))
    assert not uses_accelerator(Check("true", needs=("linux", "command:nvidia-smi")))


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        (["refuted"], 1),
        (["confirmed"], 0),
        (["inconclusive"], 3),
        (["refuted", "confirmed", "inconclusive"], 0),
        (["refuted", "inconclusive"], 3),
        (["confirmed", None], 2),
    ],
)
def test_one_status_for_all(verdicts: list[str | None], status: int) -> None:
    """Any error 2, else any confirmed 0, else any inconclusive 3, else 1."""
    from kbtool.knowledge.layers import Base
    from kbtool.verification.run import CheckResult
    from tests.verification.conftest import HERE

    entry = Entry("some-fault", "data", Path("x.md"), "t", (), "c", Check("true"))
    target = Target(entry, Base(Path("x"), "project", True))
    attempts = [
        Attempt(target, CheckResult("some-fault", Verdict(verdict), "", 0, 0.1, "", "", "", HERE) if verdict else None) for verdict in verdicts
    ]

    assert exit_status(attempts) is ExitStatus(status)


def test_an_unknown_id_names_the_nearest(kb: Kb, rivals: Path) -> None:
    """A misspelt id, a path and a number out of range are sentences with status 2."""
    assert "disk-full" in kb("verify", "disk-ful", entries=rivals).stderr
    for word in ("../data/disk-full", "DISK", "/etc/passwd", "x" * 300):
        done = kb("verify", word, entries=rivals)
        assert done.returncode == 2 and "no entry has the id" in done.stderr


def test_after_a_refuted_candidate_the_next_one_is_named(kb: Kb, rivals: Path) -> None:
    """Whoever verifies one by one is led on, and from the last one to the triage."""
    entries = [item["id"] for item in json.loads(kb("match", "--json", input=LOG, entries=rivals).stdout)["matches"]]
    for entry in entries:
        path = rivals / "data" / f"{entry}.md"
        path.write_text(re.sub(r"```sh\n.*\n```", "```sh\nfalse\n```", path.read_text()))
    kb("allow", *entries, entries=rivals)
    kb("match", input=LOG, entries=rivals)

    first, last = kb("verify", entries=rivals), kb("verify", str(len(entries)), entries=rivals)

    assert first.returncode == 1 and f"next: kb verify 2   ({entries[1]})" in first.stderr
    assert "next: kb triage" in last.stderr
