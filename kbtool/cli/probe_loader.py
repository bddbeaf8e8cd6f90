"""`kb probe loader MODULE:ATTR`, printed."""

from __future__ import annotations

from collections.abc import Sequence

from kbtool.cli.probe_text import end_progress, print_readings, progress_words
from kbtool.cli.render import print_json, safe_line, styled
from kbtool.errors import ExitStatus, KbError
from kbtool.quantities import duration, size
from kbtool.supervision.loader_reading import best_run, read_timing
from kbtool.supervision.loader_timing import LoaderTiming, Run, time_loader


def show_loader(target: str, counts: Sequence[int], deadline: float, batches: int, *, as_json: bool) -> ExitStatus:
    """Time a loader and print what was found; NEGATIVE when no batch came at all."""
    try:
        timing = time_loader(target, counts, deadline, batches=batches, progress=progress_words())
    finally:
        end_progress()
    readings = read_timing(timing)
    best = best_run(timing)
    if as_json:
        facts = timing.facts
        print_json(
            {
                "target": timing.target,
                "facts": {"cores": facts.cores, "batches": facts.batches, "workers": facts.workers, "pin_memory": facts.pin_memory, **facts.more},
                "runs": [run.to_json() for run in timing.runs],
                "samples": vars(timing.samples) if timing.samples else None,
                "best": best.workers if best else None,
                "readings": [one.to_json() for one in readings],
            }
        )
    else:
        _print_table(timing)
        print_readings(readings)
    return ExitStatus.OK if any(run.first is not None for run in timing.runs) else ExitStatus.NEGATIVE


def counts_of(text: str) -> list[int]:
    """Worker counts typed as ``0,1,2,4``. Raises KbError for anything else."""
    try:
        counts = sorted({int(part) for part in text.split(",")})
    except ValueError:
        counts = []
    if not counts or counts[0] < 0 or counts[-1] > 256:
        raise KbError(f"`{text}` is no list of worker counts", hint="write 0,1,2,4")
    return counts


def _print_table(timing: LoaderTiming) -> None:
    facts = timing.facts
    length = f"{facts.batches} batches" if facts.batches is not None else "no length"
    print(styled(safe_line(timing.target), "bold") + f"  {length} of {facts.more.get('batch_size')} · {facts.workers} workers set · {facts.cores} cores")
    print(styled(f"  {'workers':>7}  {'first batch':>11}  {'a batch':>8}  {'longest':>8}  {'each worker':>11}  {'/dev/shm':>9}  {'files':>5}", "dim"))
    for run in timing.runs:
        print(f"  {run.workers:>7}  {_cells(run)}")


def _cells(run: Run) -> str:
    if run.first is None:
        return "failed" if run.error else "no batch"
    a_batch = duration(run.per_batch) if run.per_batch is not None else "-"
    longest = duration(run.longest) if run.longest is not None else "-"
    memory = size(run.worker_memory) if run.workers else "-"
    return f"{duration(run.first):>11}  {a_batch:>8}  {longest:>8}  {memory:>11}  {size(run.shared):>9}  {run.files:>5}"
