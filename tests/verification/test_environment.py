"""The fingerprint: asked from the user's python, fast, and never stopped by a probe that fails or hangs."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.model import Entry, Outcome, Verdict
from kbtool.verification import environment, needs, probe
from kbtool.verification.comparing import compare
from kbtool.verification.environment import Fingerprint, fingerprint, foreign_packages, remembered_fingerprint
from kbtool.verification.shell import RunContext, find_python, prefixed, surroundings_of, user_environment, with_python
from tests.conftest import Kb, build_base


def tool(folder: Path, name: str, script: str) -> None:
    """An executable of that name."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder first on PATH, for commands that this machine does not have."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]]))
    return folder


SMI = """
case "$*" in
  *query-gpu*) echo "0, NVIDIA H200, 143771, 512, 7, 570.86.15"; echo "1, NVIDIA H200, 143771, 0, 0, 570.86.15";;
  *query-compute*) echo "4242, python, 510";;
  *) echo "| NVIDIA-SMI 570.86.15   Driver Version: 570.86.15   CUDA Version: 12.8 |";;
esac
"""


def test_facts_of_this_machine(tools: Path) -> None:
    """System, limits, memory and python are found, and the short line has its four parts."""
    here = fingerprint()

    assert here.fact("system", "os") == {"linux": "linux", "darwin": "macos"}[sys.platform]
    assert here.fact("python", "version") == ".".join(map(str, sys.version_info[:3]))
    assert here.fact("python", "prefix") == sys.prefix
    assert here.fact("cpu", "usable") == len(os.sched_getaffinity(0))
    assert here.fact("limits", "open_files")[0] > 0
    assert here.fact("memory", "total") > 1 << 20
    assert len(here.short().split(" · ")) == 4
    assert here.unknown == {}


def test_torch_is_read_and_not_imported(tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch's version comes from its version file; a torch that would explode on import does not matter."""
    package = tmp_path / "site" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('torch was imported')")
    (package / "version.py").write_text("__version__ = '2.7.1+cu126'\ndebug = False\ncuda: Optional[str] = '12.6'\nhip: Optional[str] = None\n")
    monkeypatch.setenv("PYTHONPATH", str(package.parent))

    here = fingerprint()

    assert (here.fact("torch", "version"), here.fact("torch", "cuda"), here.fact("torch", "hip")) == ("2.7.1+cu126", "12.6", None)
    assert "torch 2.7.1+cu126" in here.short()


def test_gpus_are_asked_from_the_driver(tools: Path) -> None:
    """GPU names, memory and the processes on them come from nvidia-smi; the newest CUDA from its header."""
    tool(tools, "nvidia-smi", SMI)

    here = fingerprint()

    assert [gpu["memory_mib"] for gpu in here.fact("gpus")] == [143771, 143771]
    assert here.fact("gpu_processes") == [{"pid": "4242", "name": "python", "memory_mib": "510"}]
    assert here.fact("cuda_driver", "cuda") == "12.8"
    assert here.short().endswith("2× NVIDIA H200")
    assert needs.unmet(["cuda", "gpus>=2", "cuda>=12.4"], here) == []
    assert needs.unmet(["gpus>=3", "cuda>=13", "rocm"], here) == ["gpus>=3", "cuda>=13", "rocm"]


def test_a_probe_that_hangs_costs_its_own_answer_only(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that does not answer is unknown after its time; every other fact is there, and nothing of it keeps running."""
    monkeypatch.setattr(environment, "PROBE_SECONDS", 1.0)
    tool(tools, "nvidia-smi", "exec sleep 300")

    here = fingerprint()

    assert set(here.unknown) == {"gpus", "gpu_processes", "cuda_driver"}
    assert "GPU unknown" in here.short()
    assert here.fact("memory", "total") > 0
    assert needs.unmet(["cuda"], here) == ["cuda"], "what is unknown is not met"


@pytest.mark.parametrize("script", ["exit 3", "echo garbage", "printf '\\377\\376'", "kill -SEGV $$"])
def test_a_probe_that_fails_is_no_failure(script: str, tools: Path) -> None:
    """A tool that fails, crashes or prints nonsense leaves no GPU or an unknown one, and no exception."""
    tool(tools, "nvidia-smi", script)

    assert fingerprint().short().split(" · ")[-1] in ("no GPU", "GPU unknown")


def test_every_probe_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """One probe never returns, one raises, one answers: the answer is there in time, the others have their reasons."""
    for_ever = threading.Event()
    probes = {"hangs": for_ever.wait, "raises": lambda: 1 // 0, "answers": lambda: 42}
    monkeypatch.setattr(probe, "PROBES", probes)
    started = time.monotonic()

    values, unknown = probe.ask(list(probes), 0.2)

    for_ever.set()
    assert time.monotonic() - started < 20
    assert values == {"hangs": None, "raises": None, "answers": 42}
    assert unknown.pop("hangs").startswith("no answer within ")
    assert unknown == {"raises": "ZeroDivisionError: integer division or modulo by zero"}


def test_no_python_is_a_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any python on PATH the system's facts are still there."""
    monkeypatch.setenv("PATH", str(tmp_path))

    here = fingerprint()

    assert "no python" in here.short()
    assert here.fact("system", "kernel")
    assert "python" in here.unknown


def test_secrets_of_variables_are_masked_at_the_source(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that matter are shown, those that are secret only by name, and passwords inside addresses not at all."""
    monkeypatch.setenv("HF_TOKEN", "hf_sesame")
    monkeypatch.setenv("HF_ENDPOINT", "https://user:sesame@hub.example/x")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    monkeypatch.setenv("UNRELATED", "sesame")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")

    variables = fingerprint().fact("variables")

    assert variables["CUDA_VISIBLE_DEVICES"] == "0,1" and variables["TOKENIZERS_PARALLELISM"] == "false"
    assert variables["HF_TOKEN"] == "(set, not shown)"
    assert "sesame" not in json.dumps(variables)


def test_the_fingerprint_is_remembered_for_match(tools: Path) -> None:
    """An answer is kept in the cache folder: fresh enough it serves the next check, and match reads it without starting anything."""
    assert remembered_fingerprint() is None
    first = fingerprint()
    tool(tools, "nvidia-smi", SMI)

    assert fingerprint(max_age=60).short() == first.short()
    remembered = remembered_fingerprint()
    assert remembered is not None and remembered.short() == first.short()
    assert fingerprint().short() != first.short()


@pytest.mark.parametrize("content", [b"", b"[]", b"{\"a\": 1}", b"\xff", b'{"a": {"when": 1}}'])
def test_a_broken_cache_is_ignored(content: bytes, tools: Path) -> None:
    """The cache is disposable: whatever stands in it, the environment is asked again."""
    environment._cache_file().parent.mkdir(parents=True, exist_ok=True)
    environment._cache_file().write_bytes(content)

    assert remembered_fingerprint() is None
    assert fingerprint(max_age=60).fact("system", "os")


def test_the_probe_is_asked_through_the_prefix(tools: Path) -> None:
    """Behind `--via` the facts are those of the other place, and the short line says so."""
    tool(tools, "elsewhere", 'OMP_NUM_THREADS=77 exec "$@"')

    here = fingerprint(surroundings_of(via="elsewhere"))

    assert here.fact("variables", "OMP_NUM_THREADS") == "77"
    assert here.short().endswith("via elsewhere")
    assert remembered_fingerprint() is None, "what is true elsewhere is not what match shows of this machine"


def test_an_unreachable_place_is_unknown(tools: Path) -> None:
    """A prefix that fails leaves everything unknown, with the reason."""
    here = fingerprint(surroundings_of(via="false"))

    assert here.facts == {} and "no answer" in here.unknown["all"]


def test_a_prefix_with_a_second_shell_is_quoted_twice() -> None:
    """ssh hands one text to the shell at the other end; docker hands over the arguments as they are."""
    assert prefixed("docker exec C", ["/bin/sh", "-c", "echo 'a b' | wc"]) == "docker exec C /bin/sh -c 'echo '\"'\"'a b'\"'\"' | wc'"
    assert prefixed("ssh host", ["true"]) == "ssh host true"
    assert prefixed("/usr/bin/ssh -p 22 host", ["echo", "a b"]) == "/usr/bin/ssh -p 22 host 'echo '\"'\"'a b'\"'\"''"


@pytest.mark.parametrize(
    ("wanted", "unmet"),
    [
        (["linux"], []),
        (["windows"], ["windows"]),
        (["torch"], []),
        (["torch>=2.6"], []),
        (["torch<2.6"], ["torch<2.6"]),
        (["gpus>=1"], ["gpus>=1"]),
        (["module:json", "command:sh"], []),
        (["module:no_such", "command:no-such"], ["module:no_such", "command:no-such"]),
        (["mps", "npu", "rocm"], ["mps", "npu", "rocm"]),
    ],
)
def test_needs(wanted: list[str], unmet: list[str]) -> None:
    """Each need is looked up among the facts; what is not known to be there is unmet."""
    facts = {"system": {"os": "linux"}, "torch": {"version": "2.7.1+cpu"}, "gpus": [], "accelerators": {}}
    named = {"module:json": True, "command:sh": True, "module:no_such": False, "command:no-such": False}

    assert needs.unmet(wanted, Fingerprint({**facts, "wanted": named})) == unmet


def test_what_an_entry_applies_to_is_compared() -> None:
    """A version outside of `applies_to` is a sentence; packages that are not there and free words are none."""
    here = Fingerprint({"torch": {"version": "2.7.1"}, "packages": {"transformers": "4.50"}, "python": {"version": "3.11.7"}})

    assert needs.mismatches(["torch<2.6", "transformers>=4.40,<5", "python>=3.12", "deepspeed>=1", "any card"], here) == [
        "the entry applies to torch<2.6, and here is torch 2.7.1",
        "the entry applies to python>=3.12, and here is python 3.11.7",
    ]


def test_a_traceback_of_another_environment_is_noticed() -> None:
    """Paths of site-packages in a traceback tell whether it comes from the python that checks use."""
    here = Fingerprint({"python": {"site": ["/opt/train/lib/python3.11/site-packages"]}})
    own = '  File "/opt/train/lib/python3.11/site-packages/torch/x.py", line 1'
    other = '  File "/opt/conda/lib/python3.10/site-packages/torch/x.py", line 1'

    assert foreign_packages(own, here) is None
    assert foreign_packages("no paths", here) is None
    assert foreign_packages(other, here) == "/opt/conda/lib/python3.10/site-packages"


@pytest.mark.parametrize(
    ("then", "differs"),
    [
        ("linux · py3.11 · torch 2.7.1 · no GPU", [("python", "py3.11", "py3.12")]),
        ("linux · py3.12 · torch 2.7.1 · no GPU", []),
        ("linux · py3.12 · torch 2.7.1 · no GPU · via ssh n7", [("place", "via ssh n7", "no prefix")]),
    ],
)
def test_a_confirmation_from_elsewhere_is_compared_by_its_short_form(then: str, differs: list[tuple[str, str, str]], tmp_path: Path) -> None:
    """Of a confirmation that this journal has not seen only the row of the entry is known: its parts are compared."""
    here = Fingerprint({"system": {"os": "linux"}, "python": {"version": "3.12.1"}, "torch": {"version": "2.7.1"}, "gpus": []})
    row = Outcome("2026-11-30 16:20Z", Verdict.CONFIRMED, "0", 0, 0.1, then, "")
    entry = Entry("some-fault", "data", tmp_path / "some-fault.md", "title", ("text",), "cause.", None, outcomes=(row,))

    found = compare(entry, here)

    assert found is not None and not found.complete
    assert [(one.what, one.then, one.here) for one in found.differences] == differs


def test_python_of_the_user_and_not_of_kb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """kb's private environment leaves PATH, an activated one stays, and `KB_PYTHON` names another."""
    from kbtool.verification import shell

    private, other = tmp_path / ".venv", tmp_path / "train"
    for folder in (private, other):
        (folder / "bin").mkdir(parents=True)
        tool(folder / "bin", "python", f"exec {sys.executable} \"$@\"")
    monkeypatch.setattr(shell, "_private_environment", lambda: private)
    path = os.pathsep.join([str(private / "bin"), str(other / "bin")])

    assert find_python(user_environment({"PATH": path})) == str(other / "bin" / "python")
    assert find_python(user_environment({"PATH": path, "VIRTUAL_ENV": str(private)})) == str(private / "bin" / "python")
    assert find_python(user_environment({"PATH": str(private / "bin")})) == str(private / "bin" / "python"), "better than none"
    assert find_python({"PATH": path, "KB_PYTHON": sys.executable}) == sys.executable


def test_python_works_where_only_python3_exists(tmp_path: Path) -> None:
    """On a system with only `python3` a check may say `python`, and nothing of that stays behind."""
    tool(tmp_path, "python3", f'exec {sys.executable} "$@"')
    with with_python({"PATH": str(tmp_path)}) as variables:
        found = shutil.which("python", path=variables["PATH"])
        assert found is not None and found != str(tmp_path / "python3")

    assert not os.path.exists(found)


def test_a_check_of_a_run_uses_that_runs_surroundings(tmp_path: Path) -> None:
    """A job seen by `kb run` lends its folder, interpreter and variables."""
    surroundings = surroundings_of(RunContext(str(tmp_path), sys.executable, {"OMP_NUM_THREADS": "3"}))

    assert (surroundings.folder, surroundings.environment["OMP_NUM_THREADS"]) == (str(tmp_path), "3")
    assert find_python(surroundings.environment) == sys.executable


def test_kb_env_prints_facts_and_json(kb: Kb, tools: Path) -> None:
    """`kb env` is a page for a person, `--json` every fact."""
    text, document = kb("env"), json.loads(kb("env", "--json").stdout)

    assert text.returncode == 0 and "/dev/shm" in text.stdout and "open_files" in text.stdout
    assert document["short"] == text.stdout.splitlines()[0]
    assert document["facts"]["python"]["executable"]


def test_kb_env_compares_with_the_last_confirmation(kb: Kb, tools: Path, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """`kb env --diff` compares every recorded value with the last confirmation, names those that differ, and says so where none does."""
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry()})
    assert kb("env", "--diff", "some-fault", entries=base).returncode == 2
    kb("allow", "some-fault", entries=base)
    there = {"OMP_NUM_THREADS": "3", "HF_TOKEN": "confidential"}
    kb("verify", "some-fault", entries=base, env=there)

    same = kb("env", "--diff", "some-fault", entries=base, env=there)
    other = kb("env", "--diff", "some-fault", entries=base, env={"OMP_NUM_THREADS": "64"})
    document = json.loads(kb("env", "--diff", "some-fault", "--json", entries=base, env={"OMP_NUM_THREADS": "64"}).stdout)

    assert "this environment does not differ in any" in same.stdout
    assert re.search(r"^ +there +here$", other.stdout, re.MULTILINE)
    assert re.search(r"^  variables OMP_NUM_THREADS +3 +64$", other.stdout, re.MULTILINE)
    assert re.search(r"^  variables HF_TOKEN .* none$", other.stdout, re.MULTILINE)
    assert {"what": "variables.OMP_NUM_THREADS", "then": "3", "here": "64"} in document["differences"]
    assert document["complete"] and document["compared"] > 20
    assert "confidential" not in other.stdout


def test_kb_env_says_when_it_knows_only_the_row(kb: Kb, tools: Path, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Where somebody else confirmed the entry, the row's short form is compared, and that is said."""
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry()})
    path = base / "data" / "some-fault.md"
    kb("allow", "some-fault", entries=base)
    kb("verify", "some-fault", entries=base)
    path.write_text(path.read_text().replace("no GPU |", "NVIDIA A100 |"))

    found = kb("env", "--diff", "some-fault", entries=base).stdout

    assert re.search(r"^  accelerator +NVIDIA A100 +no GPU$", found, re.MULTILINE)
    assert "only the entry's row is known" in found
