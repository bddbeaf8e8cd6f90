"""Signs of life: output, CPU, I/O and GPU of the whole job, each with the moment it was last seen, and the limits that follow.

Silence alone is never a stall. The job is *still* when every sign is flat; it is *silent* when only its output is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from kbtool.supervision.processes import ProcessSample

FLAT_CPU = 0.05
"""Cores: below it the job computes nothing. Monitoring threads of trackers stay below."""

BUSY_CPU = 0.1
"""Cores: from here on a process is computing; a loaded machine gives it no more."""

FLAT_BYTES = 4096.0
"""Bytes a second written by all threads together, or moved to and from storage, that count as activity."""

FLAT_READ = 65536.0
"""Bytes a second from read calls: pollers of /proc and /sys read some too."""

FLAT_GPU = 5.0
"""Percent utilization."""

RHYTHM = 3.0
"""A job is given this many times the longest quiet spell from which it has come back by itself."""

LONGEST_LIMIT = 3600.0
_WINDOW = 3.0


@dataclass(frozen=True)
class Look:
    """All that one look at the job has seen. `now` is monotonic seconds, `output` counts bytes, `gpu` is percent or None."""

    now: float
    output: int
    processes: Mapping[int, ProcessSample]
    gpu: float | None = None


@dataclass(frozen=True)
class Rates:
    """What the job did a second, over the last moments."""

    cpu: float = 0.0
    """Cores."""
    written: float = 0.0
    read: float = 0.0
    storage: float = 0.0
    gpu: float | None = None
    main_wrote: bool = False
    """The main thread of some process has written something, be it one byte: a heartbeat."""
    busy: tuple[int, ...] = ()
    """Processes that compute."""
    busy_in_main: frozenset[int] = frozenset()
    """Those of them whose main thread does."""

    @property
    def flat(self) -> bool:
        """True when nothing but output could still be a sign of life."""
        quiet_io = self.written < FLAT_BYTES and self.storage < FLAT_BYTES and self.read < FLAT_READ and not self.main_wrote
        return self.cpu < FLAT_CPU and quiet_io and (self.gpu is None or self.gpu < FLAT_GPU)


@dataclass
class Signs:
    """Follows the job from look to look. `minimum` is the least number of seconds that a stall takes."""

    minimum: float
    started: float
    last_output: float = 0.0
    last_any: float = 0.0
    cpu_in_silence: float = 0.0
    """Core seconds used since the last output: what a long computation has really had, also on a crowded machine."""
    longest_silence: float = 0.0
    longest_stillness: float = 0.0
    rates: Rates = Rates()
    _looks: deque[Look] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.last_output = self.last_any = self.started

    def add(self, look: Look) -> None:
        """Take in one more look."""
        before = self._looks[-1] if self._looks else None
        self._looks.append(look)
        while len(self._looks) > 2 and look.now - self._looks[1].now >= self._window():
            self._looks.popleft()
        if before is None:
            return
        self.rates = _rates(self._looks[0], look)
        printed = look.output != before.output
        self.cpu_in_silence = 0.0 if printed else self.cpu_in_silence + self.rates.cpu * (look.now - before.now)
        if printed:
            self.longest_silence = max(self.longest_silence, look.now - self.last_output)
            self.last_output = look.now
        if printed or not self.rates.flat:
            self.longest_stillness = max(self.longest_stillness, look.now - self.last_any)
            self.last_any = look.now

    def _window(self) -> float:
        return min(_WINDOW, self.minimum / 3)

    def silent_for(self, now: float) -> float:
        return now - self.last_output

    def still_for(self, now: float) -> float:
        return now - self.last_any

    @property
    def still_limit(self) -> float:
        """Seconds of stillness that make a stall."""
        return min(max(self.minimum, RHYTHM * self.longest_stillness), max(self.minimum, LONGEST_LIMIT))

    @property
    def silent_limit(self) -> float:
        """Seconds of silence with a busy CPU that make one, when the stack agrees."""
        return min(max(self.minimum, RHYTHM * self.longest_silence), max(self.minimum, LONGEST_LIMIT))


def _rates(first: Look, last: Look) -> Rates:
    seconds = max(last.now - first.now, 1e-3)
    deltas = [(sample, first.processes.get(pid)) for pid, sample in last.processes.items()]
    known = [(sample, before) for sample, before in deltas if before is not None]
    new = [sample for sample, before in deltas if before is None]
    cpu = {sample.pid: (sample.cpu - before.cpu) / seconds for sample, before in known}
    cpu.update({sample.pid: sample.cpu / seconds for sample in new})
    busy = tuple(pid for pid, cores in cpu.items() if cores >= BUSY_CPU)
    in_main = frozenset(sample.pid for sample, before in known if (sample.main_cpu - before.main_cpu) / seconds >= BUSY_CPU)
    return Rates(
        sum(cpu.values()),
        sum(sample.written - before.written for sample, before in known) / seconds,
        sum(sample.read - before.read for sample, before in known) / seconds,
        sum(sample.storage - before.storage for sample, before in known) / seconds,
        last.gpu,
        any(sample.main_written > before.main_written for sample, before in known),
        busy,
        in_main,
    )
