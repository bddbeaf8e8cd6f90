"""Several logs of one job: who failed first."""

from __future__ import annotations

import json
from pathlib import Path

from kbtool.matching.ranks import sort_ranks
from kbtool.matching.report import make_report
from kbtool.matching.stream import read_text
from tests.conftest import Kb

PEER = "2026-11-30 04:12:{second} ERROR\nRuntimeError: [gloo/pair.cc:553] Connection closed by peer [10.0.0.1]:27020\n"
OWN = "2026-11-30 04:12:{second} ERROR\nOSError: [Errno 28] No space left on device\n"


def roles(logs: dict[str, str]) -> dict[str, str]:
    """Role by name."""
    made = [(name, read_text(text), make_report(read_text(text))) for name, text in logs.items()]
    return {log.name: log.role for log in sort_ranks(made)}


def test_a_failure_of_ones_own_comes_before_fallout() -> None:
    """Whatever the order of the files and even if a peer complained at an earlier time."""
    logs = {"rank0.log": PEER.format(second="01"), "rank1.log": OWN.format(second="05"), "rank2.log": "step 1 | loss 0.4\n"}

    assert roles(logs) == {"rank0.log": "fallout", "rank1.log": "first", "rank2.log": "healthy"}


def test_of_two_failures_the_earlier_is_first() -> None:
    """By the time stamp above the failure."""
    assert roles({"a.log": OWN.format(second="09"), "b.log": OWN.format(second="02")}) == {"a.log": "failed", "b.log": "first"}


def test_only_fallout_still_has_a_first() -> None:
    """Where every rank only lost its peer, the earliest is the place to look."""
    assert roles({"a.log": PEER.format(second="09"), "b.log": PEER.format(second="02")}) == {"a.log": "fallout", "b.log": "first"}


def test_a_folder_of_logs_is_answered_by_the_first_failure(kb: Kb, base: Path, tmp_path: Path) -> None:
    """`kb match FOLDER`: the answer is for the rank that failed first, and every log has its role, in text and JSON."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for rank, text in enumerate((PEER.format(second="01"), OWN.format(second="05"), PEER.format(second="06"))):
        (folder / f"rank{rank}.log").write_text(text)

    data = json.loads(kb("match", "--json", folder, entries=base).stdout)
    text = kb("match", folder / "rank0.log", folder / "rank1.log", entries=base).stdout

    assert [(log["rank"], log["role"]) for log in data["logs"]] == [(0, "fallout"), (1, "first"), (2, "fallout")]
    assert data["matches"][0]["id"] == "disk-full"
    assert "first    " in text and "fallout  " in text


def test_the_failing_ranks_own_exception_comes_before_its_peers_loss(kb: Kb) -> None:
    """One log of two ranks: what the peer lost is printed first, the launcher's summary last, and neither is the failure."""
    log = (
        "[rank0]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:538] Connection closed by peer [127.0.1.1]:58420\n"
        "[rank1]: Traceback (most recent call last):\n"
        '[rank1]:   File "/job/train.py", line 22, in main\n'
        "[rank1]: ValueError: Expected more than 1 value per channel when training, got input size torch.Size([1, 64])\n"
        "E1130 20:11:33.220000 812 torch/distributed/elastic/multiprocessing/api.py:984] failed (exitcode: 1) local_rank: 1 (pid: 902) of binary: python\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
    )

    given = json.loads(kb("match", "--json", input=log).stdout)

    assert (given["error"]["type"], given["error"]["rank"]) == ("ValueError", 1)
    assert (given["matches"][0]["id"], given["matches"][0]["confidence"]) == ("batchnorm-single-value", "strong")
