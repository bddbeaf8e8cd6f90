"""What kb learn keeps of a failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kbtool.knowledge.entry import read_entry
from tests.conftest import Kb

LOG = """\
Epoch 1: 10%|#         | 1/10 [00:01<00:09]
Traceback (most recent call last):
  File "/home/someone/train.py", line 3, in <module>
    save()
  File "/opt/py/lib/python3.11/site-packages/fsspec/local.py", line 426, in write
    return self.fh.write(data)
safetensors.SafetensorError: I/O error: device full while writing shard (os error 28)
"""


def test_a_taught_wording_is_found_first_the_next_time(kb: Kb, base: Path, tmp_path: Path) -> None:
    """The telling lines become a fence of the Symptom section, redacted, and the next match knows them."""
    log = tmp_path / "other.log"
    log.write_text(LOG)

    done = kb("learn", "disk-full", log, entries=base)

    entry = read_entry(base / "data" / "disk-full.md", "data")
    assert done.returncode == 0, done.stderr
    assert len(entry.symptoms) == 2
    assert "device full while writing shard" in entry.symptoms[1]
    assert "Epoch" not in entry.symptoms[1] and "someone" not in entry.symptoms[1]
    found = json.loads(kb("match", "--json", input=LOG.replace("426", "512"), entries=base).stdout)["matches"]
    assert found[0]["id"] == "disk-full"


def test_teaching_the_same_twice_adds_nothing(kb: Kb, base: Path) -> None:
    """The second time says so and leaves the file alone."""
    kb("learn", "disk-full", "-", input=LOG, entries=base)
    before = (base / "data" / "disk-full.md").read_bytes()

    done = kb("learn", "disk-full", "-", input=LOG, entries=base)

    assert done.returncode == 0 and "already" in done.stdout
    assert before == (base / "data" / "disk-full.md").read_bytes()


def test_the_last_match_is_taught_by_default(kb: Kb, base: Path) -> None:
    """After `kb match`, `kb learn ID` needs no file."""
    kb("match", input=LOG, entries=base)

    assert kb("learn", "disk-full", entries=base).returncode == 0
    assert "device full" in (base / "data" / "disk-full.md").read_text()


def test_not_keeps_it_as_a_lookalike(kb: Kb, base: Path) -> None:
    """The same message with `--not`: the next match of it is not answered strongly any more."""
    text = "OSError: [Errno 28] No space left on device while the quota of /scratch is used up\n"
    before = json.loads(kb("match", "--json", input=text, entries=base).stdout)["matches"]

    kb("learn", "--not", "disk-full", "-", input=text, entries=base)

    after = json.loads(kb("match", "--json", input=text, entries=base).stdout)["matches"]
    assert read_entry(base / "data" / "disk-full.md", "data").not_this
    assert before[0]["score"] > 0.5
    assert not after or after[0]["score"] < before[0]["score"] / 2


def test_not_lowers_what_has_the_same_shape_and_spares_the_symptom(kb: Kb, base: Path) -> None:
    """Other numbers and folders are the same lookalike; the entry's own wording is answered as before."""
    lookalike = "OSError: [Errno 28] No space left on device: inotify watch limit of {} reached for /data/{}/runs\n"
    own = "OSError: [Errno 28] No space left on device\n"

    def score(text: str) -> float:
        found = json.loads(kb("match", "--json", input=text, entries=base).stdout)["matches"]
        return float(found[0]["score"]) if found else 0.0

    before = score(lookalike.format(8192, "ann")), score(own)
    kb("learn", "--not", "disk-full", "-", input=lookalike.format(524288, "bob"), entries=base)
    after = score(lookalike.format(8192, "ann")), score(own)

    assert after[0] < before[0] / 2
    assert after[1] > before[1] - 0.05


@pytest.mark.parametrize(("arguments", "sentence"), [(["no-such-entry", "-"], "no entry has the id"), (["disk-full", "-"], "no line that tells"), (["disk-full"], "no last match")])
def test_what_can_not_be_taught_is_a_sentence(kb: Kb, base: Path, arguments: list[str], sentence: str) -> None:
    """An unknown id, an empty text, no last match: exit 2, and nothing is changed."""
    before = (base / "data" / "disk-full.md").read_bytes()

    done = kb("learn", *arguments, input="", entries=base)

    assert done.returncode == 2 and sentence in done.stderr
    assert before == (base / "data" / "disk-full.md").read_bytes()
