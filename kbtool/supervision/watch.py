"""The watch over a running job: a look a few times a second from a thread of its own, a timeline, and a stall when the signs agree.

It only reads. It asks a process for its stack only when a stall is near, and it never stops or ends anything by itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from kbtool.supervision import verdict
from kbtool.supervision.family import Family
from kbtool.supervision.gpu import GpuSample, open_gpus
from kbtool.supervision.heartbeat import Heartbeat
from kbtool.supervision.investigation import Scene, investigate
from kbtool.supervision.output import Output
from kbtool.supervision.processes import sample
from kbtool.supervision.report import Moment, Report, Stall
from kbtool.supervision.signs import BUSY_CPU, Look, Signs
from kbtool.supervision.stacks import capture
from kbtool.supervision.startup_record import StartupRecords
from kbtool.supervision.verdict import StallClass

PERIOD = 0.5
"""Seconds between looks, less where the stall limit is short."""

LOOKS_A_LIMIT = 12
ONE_CALL = 5.0
"""A single call that never leaves its line is given this many limits of CPU time: compiling and factorising take theirs."""

TIMELINE_LIMIT = 2000


@dataclass(frozen=True)
class Events:
    """Whom the watch tells."""

    stalled: Callable[[Stall], None] = lambda stall: None
    remark: Callable[[str], None] = lambda sentence: None
    """Something worth one line when it happens: a loss that is no number, steps that take longer and longer."""


@dataclass
class Watch:
    """Follows one job. `start` it, `stop` it; what it learnt is in `report`."""

    family: Family
    output: Output
    records: StartupRecords | None
    minimum: float
    reads_terminal: bool = False
    events: Events = field(default_factory=Events)
    report: Report = field(default_factory=Report)
    heartbeat: Heartbeat = field(default_factory=Heartbeat)
    failure: Exception | None = None
    """What broke the watch itself; the job does not notice."""

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kb-watch", daemon=True)
        self._gpus: Callable[[], list[GpuSample]] = list
        self._gpu_used = False
        self._stepped = False
        self._phase = "start"
        self._declared: Stall | None = None
        self._spins: list[tuple[float, verdict.BusyThreads]] = []

    def start(self) -> None:
        """Begin to look."""
        self.started = self._phase_since = time.monotonic()
        self.signs = Signs(self.minimum, self.started)
        self._note("started")
        self._thread.start()

    def stop(self) -> None:
        """Stop looking; the last output is read first."""
        self._stop.set()
        self._thread.join(timeout=15)
        self._read_output(time.monotonic())
        if self.records is not None:
            self.records.update()

    def _run(self) -> None:
        try:
            self._gpus = open_gpus(self.family.run_helper)
            pause = min(PERIOD, self.minimum / LOOKS_A_LIMIT)
            while not self._stop.wait(pause):
                self.look()
        except Exception as error:  # kb's own fault stays kb's own
            self.failure = error

    def look(self) -> None:
        """One look: sample, read what was printed, decide."""
        now = time.monotonic()
        self._read_output(now)
        gpus = self._gpus()
        busiest = max((gpu.utilization for gpu in gpus), default=None)
        self.signs.add(Look(now, self.output.total, sample(self.family.members()), busiest))
        self._follow_gpu(gpus)
        if self._declared is not None and self.signs.still_for(now) == 0 and self.signs.silent_for(now) < self.minimum:
            self._resumed()
        self._decide(now)

    def _read_output(self, now: float) -> None:
        for kind, detail in self.heartbeat.read(self.output.take_new(), now):
            if kind == "phase":
                self._enter(detail, now)
            else:
                self._note(kind, detail)
                self.events.remark(detail)
        if "step" in self.heartbeat.values and not self._stepped:
            self._stepped = True
            self._note("first step")
        if self.output.first_at is not None and not any(moment.event == "first output" for moment in self.report.timeline[:8]):
            self._note("first output", at=self.output.first_at)

    def _enter(self, phase: str, now: float) -> None:
        """A phase begins: the timeline says how long the one before it took."""
        self._note("phase", f"{phase}, after {now - self._phase_since:.1f} s of {self._phase}")
        self._phase, self._phase_since = phase, now

    def _follow_gpu(self, gpus: list[GpuSample]) -> None:
        used = next((gpu for gpu in gpus if gpu.utilization > 0), None)
        if used is not None and not self._gpu_used:
            self._gpu_used = True
            self._note("first GPU use", f"GPU {used.index}")

    def _decide(self, now: float) -> None:
        if self._declared is not None:
            return
        still, silent = self.signs.still_for(now), self.signs.silent_for(now)
        if still >= self.signs.still_limit:
            self._declare(self._investigate(still, None))
        elif silent >= self.signs.silent_limit / 3 and self.signs.rates.cpu >= BUSY_CPU:
            self._look_for_spin(now, silent)
        elif silent < self.signs.silent_limit / 3:
            self._spins.clear()

    def _look_for_spin(self, now: float, silent: float) -> None:
        """Silence with a busy CPU: only a stack that is the same again and again makes it a stall."""
        limit = self.signs.silent_limit
        if self._spins and now - self._spins[-1][0] < max(limit / verdict.SPIN_LOOKS / 2, PERIOD):
            return
        if self.records is not None:
            self.records.update()
        found = capture(self.signs.rates.busy, self.records.by_pid if self.records else {}, self.family, only_faulthandler=True)
        self._spins.append((now, verdict.busy_threads(found.stacks, self.signs.rates.busy_in_main)))
        del self._spins[: -4 * verdict.SPIN_LOOKS]
        kind = self._spinning(limit)
        if kind is not None and silent >= limit:
            self._declare(self._investigate(silent, kind))

    def _spinning(self, limit: float) -> StallClass | None:
        if len(self._spins) < verdict.SPIN_LOOKS:
            return None
        long_enough = len(self._spins) >= 4 * verdict.SPIN_LOOKS and self.signs.cpu_in_silence >= ONE_CALL * limit
        return verdict.class_of_busy([threads for _, threads in self._spins[-verdict.SPIN_LOOKS:]], one_call_too=long_enough)

    def _investigate(self, seconds: float, kind: StallClass | None) -> Stall | None:
        if self.records is not None:
            self.records.update()
        scene = Scene(self.family, self.records, self.signs, self.output, self.heartbeat, self.reads_terminal)
        return investigate(scene, seconds, kind)

    def _declare(self, stall: Stall | None) -> None:
        if stall is None:  # a person is being waited for, at this terminal
            self.signs.last_any = time.monotonic()
            return
        if self._stop.is_set() or self.output.silent_for(self.started) < min(1.0, self.minimum / 3):
            return  # it moved while it was looked at
        self._declared = stall
        self.report.stalls.append(stall)
        self._note("stalled", f"{stall.kind.value} {stall.headline()}".strip())
        self.events.stalled(stall)

    def _resumed(self) -> None:
        self._declared = None
        self._spins.clear()
        self._note("moves again")

    def _note(self, event: str, detail: str = "", *, at: float | None = None) -> None:
        if len(self.report.timeline) < TIMELINE_LIMIT:
            when = (at if at is not None else time.monotonic()) - self.started
            step = f" (step {self.heartbeat.values['step']:g})" if "step" in self.heartbeat.values and event != "started" else ""
            self.report.timeline.append(Moment(max(when, 0.0), event, (detail + step).strip()))
