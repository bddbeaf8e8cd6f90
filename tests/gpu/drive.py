"""Drives the reproductions of the GPU entries: each fault is met, mended, and its check must tell the two apart.

Standard library only (torch is what the reproductions import), so that it runs on any machine that is lent for a few minutes. Where
kb's own dependencies are installed, `kb match` must bring the entry first too.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

TOTAL_SECONDS = 225.0
"""All reproductions together; what does not fit is said and not run."""

SCRIPT_SECONDS = 45.0
"""One script; `tests/gpu/<id>/seconds` may hold another number."""

VERDICTS = {0: "confirmed", 1: "refuted"}
"""Exit status of a `check` file."""

KB_NEEDS = ("typer", "rapidfuzz", "markdown_it", "yaml")


@dataclass
class Ran:
    """A script's exit status (None: stopped at its time limit), output, and seconds."""

    code: int | None
    output: str
    seconds: float


def main(wanted: list[str]) -> int:
    """Run what is wanted (default: everything); returns the number of entries that failed."""
    print(machine())
    folders = sorted(folder for folder in HERE.iterdir() if (folder / "faulty.py").is_file() and (not wanted or folder.name in wanted))
    for missing in sorted(set(wanted) - {folder.name for folder in folders}):
        print(f"FAIL  {missing}  no tests/gpu/{missing}/faulty.py")
    if not has_gpu():
        print(f"skip  no GPU that torch can use; {len(folders)} entries were not run")
        return 0
    end = time.monotonic() + TOTAL_SECONDS
    failed = len(set(wanted) - {folder.name for folder in folders})
    for folder in folders:
        if time.monotonic() + limit_of(folder) > end:
            print(f"left  {folder.name}  no time left for it")
            continue
        started = time.monotonic()
        problem, told = attempt(folder)
        failed += bool(problem)
        print(f"{'FAIL' if problem else 'ok  '}  {folder.name}  {problem or told}  ({time.monotonic() - started:.1f} s)", flush=True)
    return failed


def machine() -> str:
    """One line on the hardware and versions, from the probe that `kb env` uses."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "kbtool" / "verification" / "probe.py"), "5"], capture_output=True, text=True, timeout=30, check=False
    )
    facts = json.loads(done.stdout)["facts"] if done.returncode == 0 else {}
    gpus = ", ".join(f"{gpu['name']} {gpu['memory_mib']} MiB" for gpu in facts.get("gpus") or []) or "no GPU"
    driver = facts.get("cuda_driver") or {}
    torch = facts.get("torch") or {}
    return f"on    {gpus} · driver {driver.get('driver')} (CUDA {driver.get('cuda')}) · torch {torch.get('version')} · Python {sys.version.split()[0]}"


def has_gpu() -> bool:
    """Whether torch sees a GPU; asked in a process of its own, so that this one never holds a CUDA context."""
    program = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=120, check=False).returncode == 0


def limit_of(folder: Path) -> float:
    """Seconds for one script of this reproduction."""
    path = folder / "seconds"
    return float(path.read_text()) if path.exists() else SCRIPT_SECONDS


def attempt(folder: Path) -> tuple[str, str]:
    """Meet the fault, mend it, and let the check decide both: what went wrong (empty if nothing), and what happened."""
    with tempfile.TemporaryDirectory(prefix="kb-gpu-") as job:
        faulty = run_script(folder, "faulty", Path(job))
        problem = symptom_missing(folder, faulty) or wrong_verdict(folder, "faulty", Path(job), faulty) or not_matched_first(folder, faulty)
        if problem or not (folder / "mended.py").exists():
            return problem, told(faulty)
        mended = run_script(folder, "mended", Path(job))
        if mended.code != 0:
            return f"the mended script ended with {mended.code}: {last_line(mended.output)}", ""
        return wrong_verdict(folder, "mended", Path(job), mended), told(faulty) + "; mended: exit 0"


def told(ran: Ran) -> str:
    """A script's end in a few words."""
    return f"exit {ran.code}, {last_line(ran.output)[:90]}"


def last_line(output: str) -> str:
    """The last line that says something."""
    return next((line for line in reversed(output.splitlines()) if line.strip()), "no output")


def run_script(folder: Path, state: str, job: Path) -> Ran:
    """Run `faulty.py` or `mended.py` in the job folder; its output is kept there as `output.txt`, and below $OUT."""
    ran = run([sys.executable, str(folder / f"{state}.py")], job, limit_of(folder), {})
    (job / "output.txt").write_text(ran.output)
    if os.environ.get("OUT"):
        kept = Path(os.environ["OUT"]) / f"{folder.name}.{state}.txt"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(ran.output)
    return ran


def run(command: list[str], job: Path, seconds: float, variables: dict[str, str]) -> Ran:
    """Run a command in a session of its own; at the limit the whole session ends."""
    started = time.monotonic()
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT), **variables}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, cwd=job, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
        try:
            code: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        output.seek(0)
        return Ran(code, output.read().decode("utf-8", "replace"), time.monotonic() - started)


def symptom_missing(folder: Path, ran: Ran) -> str:
    """The last line of one of the entry's symptoms must be in the faulty script's output, numbers and paths aside."""
    entry = next(iter(ROOT.glob(f"entries/*/{folder.name}.md")), None)
    if entry is None:
        return f"there is no entry {folder.name}"
    section = re.search(r"^## Symptom$(.*?)^## ", entry.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    fences = re.findall(r"^(`{3,})\w*\n(.*?)\n\1", section.group(1), re.MULTILINE | re.DOTALL) if section else []
    lines = [text.splitlines()[-1].strip() for _, text in fences]
    shapes = [r"[^\s'\"]+".join(map(re.escape, re.split(r"/[^\s'\"]+|\d+(?:\.\d+)?", line))) for line in lines]
    if any(re.search(shape, ran.output) for shape in shapes):
        return ""
    return f"the symptom was not met: {told(ran)}"


def wrong_verdict(folder: Path, state: str, job: Path, ran: Ran) -> str:
    """`check` must confirm after the faulty script and refute after the mended one."""
    check = folder / "check"
    if not check.exists():
        return ""
    expected = "confirmed" if state == "faulty" else "refuted"
    done = run(["sh", str(check), state], job, SCRIPT_SECONDS, {"EXIT_CODE": str(ran.code), "PYTHON": sys.executable})
    verdict = VERDICTS.get(done.code if done.code is not None else 3, "inconclusive")
    return "" if verdict == expected else f"after {state}.py the check said {verdict}: {last_line(done.output)}"


def not_matched_first(folder: Path, ran: Ran) -> str:
    """Where kb itself can run, `kb match` must bring the entry first for the faulty script's output."""
    if any(importlib.util.find_spec(name) is None for name in KB_NEEDS):
        return ""
    with tempfile.TemporaryDirectory(prefix="kb-gpu-home-") as home:
        variables = {"HOME": home, "PYTHONPATH": str(ROOT), **{f"XDG_{name}_HOME": f"{home}/{name}" for name in ("CACHE", "STATE", "DATA")}}
        command = [sys.executable, "-m", "kbtool", "--entries", str(ROOT / "entries"), "match", "--json"]
        done = subprocess.run(command, input=ran.output, env={**os.environ, **variables}, capture_output=True, text=True, timeout=60, check=False)
    matches = json.loads(done.stdout).get("matches", []) if done.returncode in (0, 1) else []
    return "" if matches and matches[0]["id"] == folder.name else f"kb match says {[match['id'] for match in matches]}"


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 100))
