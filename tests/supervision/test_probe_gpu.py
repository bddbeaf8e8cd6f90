"""`kb probe gpu` against replayed answers in nvidia-smi's CSV format: a script of that name on PATH gives one line after the other.

No GPU is needed, and none is used. The format is the documented one of ``--query-gpu`` and ``--query-compute-apps``.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kbtool.errors import ExitStatus, KbError
from kbtool.supervision.chart import draw, squeeze
from kbtool.supervision.gpu_reading import leaks, read_timeline
from kbtool.supervision.gpu_timeline import LogFollower, Timeline, watch_gpus
from kbtool.supervision.nvidia_smi import parse_devices, parse_processes
from tests.conftest import Kb
from tests.supervision.probing import kinds, program

SCRIPT = """\
#!{python} -SE
import pathlib, sys
folder = pathlib.Path(__file__).parent
asked = " ".join(sys.argv[1:])
if "throttle" in asked and (folder / "old").exists():
    print('Field "clocks_throttle_reasons.active" is not a valid field to query.')
    raise SystemExit(2)
frames = (folder / "devices").read_text().splitlines()
count = folder / "count"
at = int(count.read_text()) if count.exists() else 0
if "--query-gpu" in asked:
    print(frames[min(at, len(frames) - 1)].replace(" | ", "\\n"))
    count.write_text(str(at + 1))
else:
    lines = (folder / "processes").read_text().splitlines()
    print(lines[min(max(at - 1, 0), len(lines) - 1)].replace(" | ", "\\n") if lines else "")
"""

Replay = Callable[..., None]


def device(busy: object, used: object, *, index: int = 0, mask: str = "0x0000000000000000") -> str:
    """One device as nvidia-smi prints it."""
    return f"{index}, GPU-{index}f3a, NVIDIA A100-SXM4-80GB, {busy}, {used}, 81920, 54, 212.40, {mask}"


@pytest.fixture
def replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Replay:
    """Put a `nvidia-smi` on PATH that answers with the given frames, one a question, the last again and again."""

    def put(devices: Sequence[str], processes: Sequence[str] = (), *, old_driver: bool = False) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        script = folder / "nvidia-smi"
        script.write_text(SCRIPT.format(python=sys.executable))
        script.chmod(0o755)
        (folder / "devices").write_text("\n".join([devices[0], *devices]) + "\n")  # the first question only asks whether there is a GPU
        (folder / "processes").write_text("\n".join([processes[0], *processes] if processes else []) + "\n" * bool(processes))
        if old_driver:
            (folder / "old").touch()
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return put


class Clock:
    """A clock that goes on only when somebody sleeps: a look takes no time, so that there are exactly as many as asked for."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        """Be later."""
        self.now += seconds


def looks_at(count: int, pid: int | None = None, log: Path | None = None, **more: object) -> Timeline:
    """So many looks, one a second of the test's own clock."""
    clock = Clock()
    return watch_gpus(count - 1.0, pid, log, _clock=lambda: clock.now, _sleep=clock.sleep, **more)  # type: ignore[arg-type]


def watch(count: int) -> list[str]:
    """The readings of so many looks."""
    return [f"{one.kind}: {one.text}" for one in read_timeline(looks_at(count))]


GROWING = [device(80, 10000 + 500 * step) for step in range(12)]

SERIES = {
    "jump": [device(3, 500), device(40, 500), device(90, 80900), device(95, 81000), device(95, 81000)],
    "full": [device(95, 80900), device(95, 81000), device(95, 80950)],
    "leak": GROWING,
    "busy": [device(97, 40000), device(92, 40000), device(95, 40000)],
    "bursts": [device(96, 40000), device(0, 40000), device(97, 40000), device(2, 40000), device(95, 40000)],
    "partly busy": [device(35, 40000), device(42, 40000), device(38, 40000)],
    "waiting": [device(0, 40000)] * 3,
    "idle": [device(0, 4)] * 3,
    "throttled": [device(97, 40000, mask="0x0000000000000040")] * 3,
}


@pytest.mark.parametrize("kind", SERIES)
def test_each_pattern_has_its_word(kind: str, replay: Replay) -> None:
    """A replayed series of looks leads to the reading it stands for."""
    replay(SERIES[kind])
    found = watch(len(SERIES[kind]))

    assert any(text.startswith(f"{kind}: ") for text in found), found


def test_a_cap_on_power_is_no_fault(replay: Replay) -> None:
    """A busy GPU at its power cap, or at a chosen clock, is not called throttled."""
    replay([device(97, 40000, mask="0x0000000000000006")] * 3)

    assert not any(text.startswith("throttled") for text in watch(3))


def test_a_saw_tooth_is_no_leak() -> None:
    """Memory that grows and is given back, or takes one large step, is no leak; steady growth is, also after a step."""
    saw = [(float(at), 10000.0 + 800 * (at % 4)) for at in range(20)]
    step = [(float(at), 10000.0 if at < 10 else 30000.0) for at in range(20)]
    steady = [(float(at), 10000.0 + 90.0 * at) for at in range(20)]
    loaded = [(0.0, 400.0), (1.0, 30000.0), *((float(at), 30000.0 + 90.0 * at) for at in range(2, 20))]

    assert [leaks(series, 81920.0) for series in (saw, step, steady, loaded)] == [False, False, True, True]


def test_the_leak_names_its_process_and_its_slope_a_step(replay: Replay, tmp_path: Path) -> None:
    """A process that grows is named; with the job's log its growth is told per step, and a peak carries its step."""
    log = tmp_path / "train.log"
    log.write_text("step 100 loss 1.0\n")
    with program("import time; print(flush=True); time.sleep(600)") as (pid, _):
        replay(GROWING, [f"GPU-0f3a, {pid}, python, {9000 + 500 * step}" for step in range(12)])
        looks = iter(range(1, 99))

        def next_step(at: float) -> None:
            with open(log, "a") as file:
                file.write(f"step {100 + 10 * next(looks)} loss 0.9\n")

        timeline = looks_at(12, pid, log, progress=next_step)
    text = next(one.text for one in read_timeline(timeline) if one.kind == "leak")

    assert text.startswith(f"GPU 0: PID {pid} (python) grows by 30000 MiB a minute, 50.0 MiB a step: full in about 2 min")
    assert timeline.moments[0].step == 100


def test_a_busy_process_beside_an_idle_gpu_is_starvation(replay: Replay) -> None:
    """GPU under 10 %, a CPU at 100 %: starved by data loading. CPU is measured on a real process; a loaded machine gives it less than a core."""
    with program("print(flush=True)\nwhile True: pass") as (pid, _):
        replay([device(4, 40000)], [f"GPU-0f3a, {pid}, python, 39000"])
        timeline = watch_gpus(1.2, pid, period=0.4)
    full = replace(timeline, moments=tuple(replace(moment, cpu={pid: 1.0}) for moment in timeline.moments))

    assert timeline.busiest_cpu() > 0.05
    assert "starved" in kinds(read_timeline(full))


def test_the_timeline_is_drawn_and_saved(replay: Replay, kb: Kb, tmp_path: Path) -> None:
    """The terminal shows block characters, the processes and the readings; the SVG is well formed, with both charts."""
    replay([device(90, 8192), device(40, 40960), device(90, 81000)], ["GPU-0f3a, 4194001, python, 39000"])
    drawing = tmp_path / "gpus.svg"
    done = kb("probe", "gpu", "--for", "3s", "--svg", drawing)
    tree = ElementTree.fromstring(drawing.read_text())

    assert (done.returncode, done.stderr) == (0, "")
    assert "GPU 0 NVIDIA A100-SXM4-80GB · 54 °C · 212 W" in done.stdout
    assert "100 % │" in done.stdout
    assert "80.0 GiB │" in done.stdout
    assert "█" in done.stdout
    assert "PID 4194001 python · 39000 MiB" in done.stdout
    assert len([one for one in tree.iter() if one.tag.endswith("polyline")]) == 2


def test_json_holds_every_look(replay: Replay, kb: Kb) -> None:
    """`--json` gives each look with devices, processes and readings."""
    replay([" | ".join([device(90, 8192), device("[N/A]", "[N/A]", index=1)])])
    told = json.loads(kb("probe", "gpu", "--for", "1s", "--json").stdout)

    assert [len(moment["devices"]) for moment in told["moments"]] == [2, 2]
    assert told["moments"][0]["devices"][1]["utilization"] is None
    assert "busy" in kinds(told["readings"])


def test_a_process_that_is_on_no_gpu(replay: Replay, kb: Kb) -> None:
    """A PID that uses no GPU is told so, exit 1; the GPUs are shown all the same."""
    replay([device(90, 8192)], ["GPU-0f3a, 4194001, python, 8000"])
    done = kb("probe", "gpu", str(os.getpid()), "--for", "1s")

    assert done.returncode == 1
    assert f"neither PID {os.getpid()} nor a process below it is on a GPU" in done.stdout


def test_only_the_jobs_gpu_is_shown(replay: Replay) -> None:
    """With a PID, devices that its processes are not on are left out."""
    replay([" | ".join(device(50, 8000, index=index) for index in range(3))], [f"GPU-2f3a, {os.getpid()}, python, 7000"])

    assert looks_at(2, os.getpid()).devices == [2]


def test_an_old_driver_is_asked_again_with_fewer_fields(replay: Replay) -> None:
    """A driver that does not know the throttle reasons still gives utilisation and memory."""
    replay([device(97, 40000)], old_driver=True)

    assert any(text.startswith("busy: ") for text in watch(2))


def test_without_a_gpu(kb: Kb, tmp_path: Path) -> None:
    """No nvidia-smi, or one that can not reach the driver: one sentence, exit 1."""
    missing = kb("probe", "gpu", env={"PATH": str(tmp_path)})
    broken = tmp_path / "nvidia-smi"
    broken.write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.'\nexit 9\n")
    broken.chmod(0o755)
    failing = kb("probe", "gpu", env={"PATH": str(tmp_path)})

    assert (missing.returncode, failing.returncode) == (1, 1)
    assert "no GPU to look at: nvidia-smi is not on PATH" in missing.stderr
    assert "could not communicate with the NVIDIA driver" in failing.stderr


def test_a_driver_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A nvidia-smi that does not answer is an error after its time, not a hang."""
    script = tmp_path / "nvidia-smi"
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("kbtool.supervision.nvidia_smi.TIMEOUT", 0.2)
    with pytest.raises(KbError) as told:
        watch_gpus(1.0)

    assert told.value.status == ExitStatus.NEGATIVE
    assert "the driver hangs" in told.value.message


def test_values_that_a_device_does_not_tell() -> None:
    """`[N/A]` and its like are unknown, not zero; lines that are no rows are passed over."""
    found = parse_devices("0, GPU-1, NVIDIA GB10, 12, [N/A], [N/A], 40, [Not Supported], [N/A]\nno devices were found\n")
    processes = parse_processes("GPU-1, 71, [Insufficient Permissions], [N/A]\n\n")

    assert (found[0].used, found[0].total, found[0].power, found[0].throttles) == (None, None, None, 0)
    assert [(one.pid, one.used) for one in processes] == [(71, None)]


def test_the_log_is_followed_from_where_it_was(tmp_path: Path) -> None:
    """The step is the last one that the log shows, also after the log was cut."""
    log = tmp_path / "log"
    follower = LogFollower(log)
    seen = [follower.step()]
    for text in ("step 1\n", "step 1\nstep 2\n", "step 9\n"):
        log.write_text(text)
        seen.append(follower.step())

    assert seen == [None, 1, 2, 9]


def test_drawing() -> None:
    """Columns are full at the top value, a squeezed series keeps its peaks."""
    assert draw([0, 50, 100, 12.5], 100, 2) == ["  █ ", " ██▂"]
    assert squeeze([1, 2, 9, 3, 4, 5], 3) == [2, 9, 5]
    assert squeeze([1, 2], 3) == [1, 2]


@pytest.mark.gpu
def test_a_real_gpu() -> None:
    """The driver of a real GPU understands both questions: utilisation and memory are told, within their limits."""
    if shutil.which("nvidia-smi") is None:
        pytest.skip("no GPU")
    timeline = watch_gpus(2.0)
    found = list(timeline.moments[-1].devices.values())

    assert found
    assert all(device.used is not None and device.total is not None and 0 <= device.used <= device.total for device in found)
    assert read_timeline(timeline)
