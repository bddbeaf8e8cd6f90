"""`kb add`: a fault becomes an entry by flags, JSON, prompts or an editor; what is no knowledge is refused."""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path

import pytest

from tests.conftest import Kb
from tests.terminals import terminal

CRASH = """\
step 1 loss 2.3
Traceback (most recent call last):
  File "/home/alice/train.py", line 12, in <module>
    main()
ValueError: expected input of shape [8, 3] from host 10.1.2.3
"""

FLAGS = {
    "--symptom": "ValueError: the frobnicator of alice@example.com is out of oil",
    "--root-cause": "Nobody refilled the tank before the night run. It holds one day.",
    "--verify": "test -e /nowhere/tank",
    "--confirms": "exit nonzero",
    "--fix": "Refill it.",
    "--domain": "data",
}


def flags(**other: str | None) -> list[str]:
    """A complete command line; parts can be replaced or (None) left out."""
    chosen = {**FLAGS, **{f"--{name.replace('_', '-')}": value for name, value in other.items()}}
    return [word for name, value in chosen.items() if value is not None for word in (name, value)]


def entry(base: Path, entry_id: str, domain: str = "data") -> str:
    """The text of an entry."""
    return (base / domain / f"{entry_id}.md").read_text(encoding="utf-8")


def test_flags_are_enough(kb: Kb, base: Path) -> None:
    """Without a terminal the flags make an entry that lint accepts and match finds at once."""
    done = kb("add", *flags(id="tank-empty"), entries=base)

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(base / "data" / "tank-empty.md")
    text = entry(base, "tank-empty")
    assert "status: active" in text
    assert "confirms: exit nonzero" in text
    assert "## Fix\n\nRefill it." in text
    assert kb("lint", entries=base).returncode == 0
    matched = json.loads(kb("match", "--json", input="ValueError: the frobnicator of [hidden:email] is out of oil\n", entries=base).stdout)
    assert matched["matches"][0]["id"] == "tank-empty"


def test_what_flags_bring_is_not_allowed_to_run(kb: Kb, base: Path, tmp_path: Path) -> None:
    """A check that came by flags runs only after somebody allowed it."""
    done = kb("add", *flags(id="tank-empty", verify=f"touch {tmp_path}/ran", confirms="exit zero"), entries=base)
    refused = kb("verify", "tank-empty", entries=base)

    assert done.returncode == 2  # touching a file is a fix, not a check
    done = kb("add", *flags(id="tank-empty", verify=f"ls {tmp_path}/$(touch {tmp_path}/ran)"), entries=base)
    assert done.returncode == 2
    done = kb("add", *flags(id="tank-empty", verify="python -c \"open('" + str(tmp_path) + "/ran', 'w')\"", confirms="exit zero"), entries=base)
    assert done.returncode == 0, done.stderr
    assert "`kb allow tank-empty`" in done.stderr
    refused = kb("verify", "tank-empty", entries=base)
    assert refused.returncode == 2
    assert not (tmp_path / "ran").exists()


def test_json_brings_all_parts_and_gets_json(kb: Kb, base: Path) -> None:
    """An agent gives one object and gets one: id, path, near entries, what was taken out, the outcome."""
    given = {"symptom": "KeyError: 'wheel' from bob@example.com", "root_cause": "The config of the old car is loaded.", "verify": "test -e /nowhere", "confirms": "exit zero", "domain": "data", "needs": ["linux"], "tags": "a, b"}

    done = kb("add", "--json", input=json.dumps(given), entries=base)

    answer = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert (answer["schema"], answer["domain"], answer["outcome"], answer["problems"]) == (1, "data", None, [])
    assert answer["redacted"] == ["email"]
    text = Path(answer["path"]).read_text(encoding="utf-8")
    assert "bob@" not in text
    assert "needs: [linux]" in text
    assert "tags: [a, b]" in text


def test_every_objection_at_once(kb: Kb, base: Path) -> None:
    """All that is wrong is said in one go, each with the part it is about, and nothing is written."""
    before = sorted(base.rglob("*"))
    done = kb("add", "--json", "--id", "../x", "--confirms", "maybe", "--verify", "Look at the tank", "--root-cause", "tank failed", "--symptom", "tank failed", "--needs", "magic", entries=base)

    problems = {problem["field"]: problem["message"] for problem in json.loads(done.stdout)["problems"]}
    assert done.returncode == 2
    assert set(problems) == {"id", "confirms", "verify", "root_cause", "needs", "domain"}
    assert "description" in problems["verify"]
    assert "repeats the symptom" in problems["root_cause"]
    assert sorted(base.rglob("*")) == before


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"symptom": ""}, "symptom: is empty"),
        ({"symptom": "paste what the program printed here"}, "still the template's"),
        ({"verify": "df -h\ndu -h"}, "2 lines"),
        ({"verify": "echo 'open"}, "shell can not read it"),
        ({"verify": "no-such-tool --x"}, "--needs command:no-such-tool"),
        ({"verify": "pip install oil"}, "changes something"),
        ({"verify": None}, "verify: is missing"),
        ({"root_cause": None}, "root_cause: is missing"),
        ({"root_cause": "the frobnicator is out of oil"}, "only repeats the symptom"),
        ({"confirms": "true"}, "does not fit"),
        ({"id": "disk-full"}, "`kb learn disk-full`"),
        ({"verify": "ls /home/alice/tank"}, "--no-redact"),
    ],
)
def test_what_is_no_knowledge_is_refused(kb: Kb, base: Path, other: dict[str, str | None], said: str) -> None:
    """Each kind of objection names its part and leaves the base as it was."""
    before = sorted(base.rglob("*"))
    done = kb("add", *flags(**other), entries=base)

    assert done.returncode == 2
    assert said in done.stderr
    assert sorted(base.rglob("*")) == before


def test_the_same_fault_twice_is_refused(kb: Kb, base: Path) -> None:
    """A fault that an entry tells word for word is not added again."""
    assert kb("add", *flags(id="tank-empty"), entries=base).returncode == 0

    done = kb("add", *flags(id="tank-empty-again"), entries=base)

    assert done.returncode == 2
    assert "`tank-empty` tells this fault already" in done.stderr


def test_a_needed_command_may_be_absent_here(kb: Kb, base: Path) -> None:
    """A check whose command is declared as a need can be added where it is not installed."""
    done = kb("add", *flags(verify="no-such-tool --x", needs="command:no-such-tool"), entries=base)

    assert done.returncode == 0, done.stderr


def test_the_last_match_gives_the_symptom(kb: Kb, base: Path) -> None:
    """After an unmatched log, `kb add` takes its telling lines and nothing private."""
    kb("match", input=CRASH, entries=base)

    done = kb("add", *flags(symptom=None, id="bad-shape"), entries=base)

    assert done.returncode == 0, done.stderr
    text = entry(base, "bad-shape")
    assert "ValueError: expected input of shape [8, 3] from host [hidden:ip]" in text
    assert "alice" not in text


@pytest.mark.parametrize("piped", [True, False])
def test_a_log_gives_the_symptom(kb: Kb, base: Path, tmp_path: Path, piped: bool) -> None:
    """A log, piped or named, gives its telling lines."""
    log = tmp_path / "crash.log"
    log.write_text(CRASH, encoding="utf-8")

    done = kb("add", *([] if piped else [log]), *flags(symptom=None, id="bad-shape"), input=CRASH if piped else "", entries=base)

    assert done.returncode == 0, done.stderr
    assert "ValueError: expected input of shape [8, 3]" in entry(base, "bad-shape")
    assert "loss 2.3" not in entry(base, "bad-shape")


@pytest.mark.parametrize("zone", ["EAST-14", "WEST12"])
def test_the_day_is_that_of_utc(kb: Kb, base: Path, zone: str) -> None:
    """An entry's date is the same wherever on earth it is written at the same moment, as its outcomes' are."""
    days = [datetime.datetime.now(datetime.timezone.utc).date()]
    kb("add", *flags(id="tank-empty"), entries=base, env={"TZ": zone})
    days.append(datetime.datetime.now(datetime.timezone.utc).date())

    assert any(f"created: {day}\n" in entry(base, "tank-empty") for day in days)


def test_a_draft_may_lack_cause_and_check(kb: Kb, base: Path) -> None:
    """`--draft` keeps a symptom alone; it is matched, and says that it is a draft."""
    done = kb("add", "--draft", "--symptom", "ValueError: brakes gone", "--domain", "data", "--id", "brakes", entries=base)

    assert done.returncode == 0, done.stderr
    assert "status: draft" in entry(base, "brakes")


def test_no_redact_keeps_what_was_written(kb: Kb, base: Path) -> None:
    """The brave keep their addresses."""
    kb("add", *flags(id="tank-empty"), "--no-redact", entries=base)

    assert "alice@example.com" in entry(base, "tank-empty")


def test_prompts_propose_object_and_run_the_check(base: Path, tmp_path: Path) -> None:
    """A person takes proposals by Enter, is asked again after an objection, and the confirmed check runs once and is recorded."""
    with terminal("add", "--symptom", "ValueError: spring broken", cwd=tmp_path, entries=base) as screen:
        screen.expect("Title")
        screen.type("")
        screen.expect("Id\n")
        screen.type("")
        screen.expect("Domain")
        screen.type("data")
        screen.expect("Root cause")
        screen.type("spring broken")
        screen.expect("only repeats the symptom")
        screen.type(". It was bent at -20 degrees during the winter test.")
        screen.expect("Check:")
        screen.type("Look at it closely please")
        screen.expect("is a description")
        screen.expect("Look at it closely please")
        screen.type("\x15test -e /nowhere")
        screen.expect("It confirms when")
        screen.type("exit nonzero")
        screen.expect("It needs")
        screen.type("")
        screen.expect("Fix")
        screen.type("Replace it.")
        screen.expect("Allow this check and run it now?")
        screen.type("y")
        screen.expect("confirmed")
        assert screen.end() == 0

    text = entry(base, "value-error-spring-broken")
    assert "spring broken. It was bent" in text
    assert "| confirmed |" in text


def test_the_id_follows_the_title(base: Path, tmp_path: Path) -> None:
    """A title that the person types is what the id is made of; a cause may have several lines; a mistyped domain is asked about."""
    with terminal("add", "--symptom", "ValueError: spring broken", "--verify", "test -e /nowhere", "--no-run", cwd=tmp_path, entries=base) as screen:
        screen.expect("Title")
        screen.expect("spring broken")
        screen.type("\x15The winter breaks springs")
        screen.expect("Id\n")
        screen.expect("winter-breaks-springs")
        screen.type("")
        screen.expect("Domain")
        screen.type("\x15datta")
        screen.expect("There is no `datta`. [Enter: `data` is meant")
        screen.type("x")
        screen.expect("`x` is none of the keys: n, or Enter")
        screen.type("")
        screen.expect("Root cause")
        screen.type("Steel is brittle in the cold.\\")
        screen.type("It was bent at -20 degrees.")
        for question, answer in (("Check:", ""), ("It confirms when", "exit nonzero"), ("It needs", ""), ("Fix", "Warm it."), ("Allow this check", "n")):
            screen.expect(question)
            screen.type(answer)
        assert screen.end() == 0

    assert "Steel is brittle in the cold.\nIt was bent at -20 degrees.\n" in entry(base, "winter-breaks-springs")


def test_a_mistyped_domain_is_refused(kb: Kb, base: Path) -> None:
    """A domain that looks like an existing one is no new one unless that is said; one unlike all is made, and named as new."""
    refused = kb("add", *flags(domain="datta"), entries=base)
    meant = kb("add", *flags(domain="datta", id="in-datta"), "--new-domain", entries=base)
    other = kb("add", *flags(domain="robotics", id="in-robotics", symptom="ValueError: arm stuck"), entries=base)

    assert refused.returncode == 2
    assert "there is no `datta`; did you mean `data`? `--new-domain` makes a new one" in refused.stderr
    assert meant.returncode == 0 and entry(base, "in-datta", "datta")
    assert other.returncode == 0 and "`robotics` is a new domain" in other.stderr


def test_a_person_may_add_a_wording_instead(base: Path, tmp_path: Path) -> None:
    """The nearest entries come first, and one key adds the wording to one of them."""
    with terminal("add", "--symptom", "OSError: [Errno 28] No space left on device: '/scratch/x'", cwd=tmp_path, entries=base) as screen:
        screen.expect("Known already?")
        screen.expect("disk-full")
        screen.expect("Same fault?")
        screen.type("yes")
        screen.expect("`yes` is none of the keys: 1, or Enter")
        screen.type("1")
        screen.expect("another wording of `disk-full`")
        assert screen.end() == 0

    assert entry(base, "disk-full").count("```text") == 2
    assert len(list((base / "data").glob("*.md"))) == 2


def test_a_piped_log_leaves_the_terminal_for_answers(base: Path, tmp_path: Path) -> None:
    """`kb add < crash.log` reads the log from the pipe and asks the person at the terminal."""
    with terminal("add", "--root-cause", "The sensor sends eight rows.", cwd=tmp_path, entries=base, stdin=CRASH.encode()) as screen:
        screen.expect("taken out: ip")
        screen.expect("expected input of shape [8, 3] from host [hidden:ip]")
        screen.expect("Title")
        screen.interrupt(until="--draft-file")
        assert screen.end() == 130


def test_several_wordings_and_the_environment_are_kept(kb: Kb, base: Path) -> None:
    """A list of symptoms is several wordings, and where no outcome tells the environment a note does."""
    kb("env", entries=base)
    given = {"symptom": ["ValueError: horn silent", "RuntimeError: no horn"], "root_cause": "The fuse blew in the rain.", "verify": "test -e /nowhere", "domain": "data", "id": "horn-silent"}

    done = kb("add", "--json", input=json.dumps(given), entries=base)

    assert done.returncode == 0, done.stderr
    assert entry(base, "horn-silent").count("```text") == 2
    assert "Met on: " in entry(base, "horn-silent")


IDS = [
    "../x", "../../etc/passwd", "/etc/passwd", "a/b", "a\\b", ".hidden", "..", "x", "xy", "Upper-Case", "Disk-Full", "with space", "a" * 81, "a" * 300, "1digit", "-dash", "ends.md", "tab\there", "new\nline",
    "a\x1bb", "\u202efull", "显存", "con", "nul", "aux", "prn", "com1", "lpt9", "disk-full", "~root", "$(id)", "`id`", "a;b", "a|b", "a*b",
]  # fmt: skip


@pytest.mark.parametrize("wanted", IDS)
def test_no_id_leads_out_of_the_base(kb: Kb, base: Path, tmp_path: Path, wanted: str) -> None:
    """An id that is no plain, free name is refused, and nothing is made anywhere."""
    before = sorted(tmp_path.rglob("*"))
    given = {"symptom": "ValueError: horn silent", "root_cause": "The fuse blew in the rain.", "verify": "test -e /nowhere", "domain": "data", "id": wanted}

    done = kb("add", "--json", input=json.dumps(given), entries=base, cwd=tmp_path)

    assert done.returncode == 2
    assert [problem["field"] for problem in json.loads(done.stdout)["problems"]] == ["id"]
    assert sorted(tmp_path.rglob("*")) == before


def test_a_domain_that_is_a_link_elsewhere_takes_no_entry(kb: Kb, base: Path, tmp_path: Path) -> None:
    """A folder of the base that leads outside is not written into."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (base / "model").symlink_to(outside, target_is_directory=True)

    done = kb("add", *flags(domain="model"), entries=base)

    assert done.returncode == 2
    assert list(outside.iterdir()) == []


EDITOR = """\
import pathlib, sys
path = pathlib.Path(sys.argv[-1])
text = path.read_text()
text = text.replace("paste what the program printed here", "ValueError: horn silent")
text = text.replace("# What goes wrong: why", "# The horn is silent").replace("domain: ", "domain: data", 1)
text = text.replace("## Verify", "The fuse blew in the rain.\\n\\n## Verify").replace("```sh\\n\\n```", "```sh\\ntest -e /nowhere\\n```")
text += "\\n## Mine\\n\\nkept as it is\\n"
path.write_text(text)
"""


def editor(tmp_path: Path, program: str) -> dict[str, str]:
    """An editor that is a Python program."""
    script = tmp_path / "editor.py"
    script.write_text(program, encoding="utf-8")
    return {"EDITOR": f"{sys.executable} {script}", "VISUAL": ""}


def test_the_editor_fills_a_commented_template(kb: Kb, base: Path, tmp_path: Path) -> None:
    """What the person writes in the template becomes the entry, without the hints, own sections kept."""
    done = kb("add", "--edit", entries=base, env=editor(tmp_path, EDITOR))

    assert done.returncode == 0, done.stderr
    text = entry(base, "horn-silent")
    assert "kb:" not in text
    assert "id:" not in text
    assert "The fuse blew in the rain." in text
    assert text.endswith("## Mine\n\nkept as it is\n")
    assert kb("lint", entries=base).returncode == 0


def test_an_unchanged_template_is_refused(kb: Kb, base: Path, tmp_path: Path) -> None:
    """Leaving the editor without a change adds nothing and says where the text is kept."""
    done = kb("add", "--edit", entries=base, env=editor(tmp_path, ""))

    assert done.returncode == 2
    assert "still the template's" in done.stderr
    assert "is kept in" in done.stderr


def test_a_failing_editor_loses_nothing(kb: Kb, base: Path, tmp_path: Path) -> None:
    """The text stays where the message says, and `--draft-file` goes on with it."""
    failing = kb("add", "--edit", entries=base, env=editor(tmp_path, EDITOR + "sys.exit(1)\n"))
    kept = failing.stderr.split("is kept in ")[1].split("\n")[0].strip()

    assert failing.returncode == 2
    assert "horn silent" in Path(kept).read_text(encoding="utf-8")
    assert kb("add", "--draft-file", kept, entries=base, env=editor(tmp_path, "")).returncode == 0
    assert not Path(kept).exists()


def test_no_editor_is_a_clear_error(kb: Kb, base: Path) -> None:
    """Without an editor the message names the variable and the way without one."""
    done = kb("add", "--edit", entries=base, env={"EDITOR": "", "VISUAL": ""})

    assert done.returncode == 2
    assert "export EDITOR=" in done.stderr


TOKEN = "hf_" + "Zk3" * 12

PLANTED = (
    f"RuntimeError: 401 Unauthorized for token {TOKEN} of user carol@example.com\n",
    f"Traceback (most recent call last):\n  File \"/home/carol/a.py\", line 1, in <module>\n    login(\"{TOKEN}\")\nRuntimeError: login failed\n",
    f"+ HF_TOKEN={TOKEN} python train.py\nRuntimeError: training failed\n",
    f"RuntimeError: cannot clone https://carol:{TOKEN}@git.example.com/x\n",
    f"RuntimeError: Authorization: Bearer {TOKEN} was refused\n",
)


@pytest.mark.parametrize("log", PLANTED, ids=["message", "traceback", "environment", "url", "header"])
def test_secrets_of_a_crash_reach_no_file_and_no_output(kb: Kb, base: Path, own_world: Path, log: str) -> None:
    """A token anywhere in the log is in no entry, index, journal, draft, nor in what an agent is told."""
    said = [
        kb("match", "--json", input=log, entries=base),
        kb("add", "--json", "--root-cause", "It had expired on Monday.", "--verify", "test -e /nowhere", "--confirms", "exit zero", "--domain", "data", entries=base),
        kb("triage", "--json", input=log, entries=base),
        kb("review", "--report", entries=base),
    ]

    files = [path for root in (base, own_world) for path in root.rglob("*") if path.is_file()]
    assert said[1].returncode == 0, said[1].stderr
    assert len(list((base / "data").glob("*.md"))) == 3
    for private in (TOKEN.encode(), b"carol"):
        assert not [path for path in files if private in path.read_bytes()]
        assert not [done.args for done in said if private in (done.stdout + done.stderr).encode()]


def test_near_entries_are_short_and_likely(kb: Kb, base: Path) -> None:
    """What may be the same fault is shown with the first sentence of its cause; an unlikely second one is not shown."""
    given = {"symptom": "OSError: [Errno 28] No space left on device: '/scratch/run'", "root_cause": "Yesterday's checkpoints fill the scratch disk.", "verify": "test -e /nowhere", "domain": "data", "id": "scratch-full"}

    near = json.loads(kb("add", "--json", input=json.dumps(given), entries=base).stdout)["near"]

    assert [(each["id"], each["root_cause"]) for each in near] == [("disk-full", "The cache folder lies on a small disk.")]
