"""Metrics in the output: tables of wordings, read cheaply, remarks made once."""

from __future__ import annotations

import math

import pytest

from kbtool.supervision.heartbeat import Heartbeat, metrics_of, phase_of

LINES: tuple[tuple[str, dict[str, float]], ...] = (
    (
        "{'loss': 2.31, 'grad_norm': 0.5, 'learning_rate': 5e-05, 'epoch': 0.1}",
        {"loss": 2.31, "grad norm": 0.5, "learning rate": 5e-05, "epoch": 0.1},
    ),
    ("step 12/300 loss=0.5 lr 1e-4 123 tokens/s", {"step": 12, "loss": 0.5, "learning rate": 1e-4, "throughput": 123}),
    (" 33%|███ | 10/30 [00:12<00:24, 1.2it/s]", {"step": 10, "throughput": 1.2}),
    ("Epoch: [3][ 20/100] Loss 0.3", {"epoch": 3, "loss": 0.3}),
    ("iteration 1,000: train_loss: 1.5", {"step": 1000, "loss": 1.5}),
    ("Gradient overflow. Skipping step, reducing loss scale to 0.5", {"loss scale": 0.5}),
    ("loss: information is lost, took 12 s", {}),
    ("step time: 12 ms", {}),
    ("batch size 12, 3 workers", {}),
    ("2026-11-30 16:20:05 starting", {}),
)


@pytest.mark.parametrize(("line", "expected"), LINES, ids=[line[:30] for line, _ in LINES])
def test_metrics_are_read(line: str, expected: dict[str, float]) -> None:
    """Each framework's wording gives its metrics, and prose gives none."""
    assert dict(metrics_of(line)) == expected


@pytest.mark.parametrize(
    ("line", "phase"),
    [
        ("Loading checkpoint shards: 50%", "load"),
        ("***** Running Evaluation *****", "evaluation"),
        ("Saving model checkpoint to out/", "checkpoint"),
        ("step 3 loss 0.1", None),
    ],
)
def test_phases_are_announced(line: str, phase: str | None) -> None:
    """Words of the table announce a phase."""
    assert phase_of(line) == phase


def test_nan_is_remarked_once_with_its_step() -> None:
    """A loss that is no number is one remark, however often it is printed."""
    heartbeat = Heartbeat()
    told = [remark for now in range(5) for remark in heartbeat.read(b"step %d loss nan\n" % now, float(now)) if remark[0] == "nan"]
    assert told == [("nan", "loss is nan at step 0")] and math.isnan(heartbeat.values["loss"])


def test_steps_that_take_longer_are_remarked_once() -> None:
    """When steps take more than three times as long as the first ones, it is said once."""
    heartbeat, now, told = Heartbeat(), 0.0, []
    for step in range(60):
        now += 1.0 if step < 30 else 4.0
        told += [remark for remark in heartbeat.read(b"step %d\n" % step, now) if remark[0] == "slower"]
    assert len(told) == 1 and "4.0 times" in told[0][1]


def test_adversarial_lines_are_read_in_time() -> None:
    """A megabyte of near-misses costs a fraction of a second, because only the newest part and the start of each line is read."""
    import time

    began = time.process_time()
    list(Heartbeat().read(b"loss " * 200_000 + b"\n" + b"step:step:" * 100_000, 0.0))
    assert time.process_time() - began < 1.0
