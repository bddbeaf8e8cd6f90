"""Signs of life: silence alone is never a stall, and the limit follows the job's own rhythm."""

from __future__ import annotations

from kbtool.supervision.processes import ProcessSample
from kbtool.supervision.signs import Look, Signs


def look(now: float, *, output: int = 0, gpu: float | None = None, **used: float) -> Look:
    """A look at a job of one process that has `used` something so far."""
    fields = {"cpu": 0.0, "main_cpu": 0.0, "written": 0, "read": 0, "storage": 0, "main_written": 0, **used}
    sample = ProcessSample(pid=1, parent=0, name="job", state="S", threads=1, rss=0, **fields)  # type: ignore[arg-type]
    return Look(now, output, {1: sample}, gpu)


def followed(looks: list[Look], minimum: float = 10.0) -> Signs:
    """The signs after a series of looks."""
    signs = Signs(minimum, looks[0].now)
    for one in looks:
        signs.add(one)
    return signs


def test_nothing_at_all_is_stillness() -> None:
    """With every sign flat, the job has been still since it started."""
    signs = followed([look(float(now)) for now in range(20)])
    assert signs.still_for(19.0) == 19.0 and signs.rates.flat


def test_any_sign_alone_is_life() -> None:
    """CPU, writing, reading much, storage, the GPU, or one byte from a main thread: each alone keeps a silent job alive."""
    for sign in ({"cpu": 0.5}, {"written": 10_000}, {"read": 200_000}, {"storage": 10_000}, {"main_written": 1}):
        name, rate = next(iter(sign.items()))
        signs = followed([look(float(now), **{name: rate * now}) for now in range(20)])
        assert signs.still_for(19.0) == 0.0, name
    assert followed([look(float(now), gpu=80.0) for now in range(20)]).still_for(19.0) == 0.0


def test_monitoring_threads_are_no_life() -> None:
    """A little CPU and a little writing, as trackers do, hide no stall."""
    signs = followed([look(float(now), cpu=0.01 * now, written=200 * now, read=3000 * now) for now in range(20)])
    assert signs.still_for(19.0) == 19.0


def test_limit_adapts_to_the_rhythm() -> None:
    """A job that has come back from twelve quiet seconds is given three times as long the next time."""
    signs = followed([look(float(now), output=now // 12) for now in range(60)])
    assert signs.still_limit >= 36.0 and signs.silent_limit >= 36.0
    assert followed([look(float(now), output=now) for now in range(60)]).still_limit == 10.0


def test_output_resets_the_silence() -> None:
    """The newest output is where silence begins, and the CPU spent in silence is counted from there."""
    signs = followed([look(float(now), output=min(now, 5), cpu=float(now)) for now in range(20)])
    assert signs.silent_for(19.0) == 14.0 and 13.0 <= signs.cpu_in_silence <= 14.5
