"""Near misses share most words with a symptom and differ in one; that one decides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.knowledge.layers import Base
from kbtool.matching import confidence
from kbtool.matching.answer import answer_text, scored
from kbtool.matching.index import Index, open_index
from kbtool.matching.report import report_text
from kbtool.model import Confidence
from kbtool.settings import shipped_entries
from tests.conftest import build_base


@pytest.fixture
def library(tmp_path: Path, make_entry: Callable[..., str]) -> Index:
    """A small base whose entries resemble each other."""
    entries = {
        "data/generator-on-gpu": make_entry(
            title="A CPU generator meets a CUDA permutation",
            symptom="RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'",
            root_cause="The default device is cuda, the generator was made on the cpu.",
        ),
        "distributed/killed": make_entry(
            domain="distributed",
            title="A rank is killed by SIGKILL for memory",
            symptom="torch.distributed.elastic.multiprocessing.api: failed (exitcode: -9) local_rank: 1 (pid: 11) of binary: python",
            root_cause="Signal 9 (SIGKILL, exitcode -9) comes from the kernel's out-of-memory killer.",
        ),
        "model/option-unknown": make_entry(
            domain="model",
            title="device_map is passed to a model that does not know it",
            symptom="TypeError: __init__() got an unexpected keyword argument 'device_map'",
            root_cause="The library is too old for device_map.",
        ),
    }
    return open_index([Base(build_base(tmp_path / "entries", entries), "chosen", True)])


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'", "RuntimeError: Expected a 'cpu' device type for generator but found 'cuda'"),
        ("api.py: failed (exitcode: -9) local_rank: 0 (pid: 7)", "api.py: failed (exitcode: -11) local_rank: 0 (pid: 7)"),
        ("TypeError: __init__() got an unexpected keyword argument 'device_map'", "TypeError: __init__() got an unexpected keyword argument 'load_in_4bit'"),
    ],
)
def test_one_token_decides(library: Index, text: str, near: str) -> None:
    """The devices the other way round, another signal, another option: clearly less likely than the real thing."""
    real, other = (scored(report_text(given), library)[0] for given in (text, near))

    assert real.record.id == other.record.id
    assert other.probability < real.probability - 0.02


def test_what_names_a_text_as_another_fault_counts_against_it(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """A text in `Not this` is not answered as that entry's; other reports of its symptom still are."""
    other = "ValueError: optimizer got an empty parameter list from the third-party wrapper of Adas"
    text = make_entry(symptom="ValueError: optimizer got an empty parameter list").replace("## Root cause", f"## Not this\n\n```text\n{other}\n```\n\n## Root cause")
    index = open_index([Base(build_base(tmp_path / "entries", {"training/none": text}), "chosen", True)])

    mine = scored(report_text("ValueError: optimizer got an empty parameter list"), index)[0]
    not_mine = scored(report_text(other), index)[0]

    assert not_mine.probability < 0.2 < mine.probability


def test_wordings_are_alternatives(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """A second wording of another version neither hurts the first nor is needed by it."""
    first, second = "RuntimeError: received 0 items of ancdata", "OSError: [Errno 24] Too many open files"
    both = make_entry(symptom=first).replace("## Root cause", f"```text\n{second}\n```\n\n## Root cause")
    index = open_index([Base(build_base(tmp_path / "entries", {"data/files": both, "data/other-one": make_entry()}), "chosen", True)])

    assert all(answer_text(text, index).matches[0].id == "files" for text in (first, second))


def test_a_draft_is_never_strong(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """However good the match."""
    symptom = "ValueError: optimizer got an empty parameter list"
    text = make_entry(symptom=symptom, title="Optimizer gets an empty list of parameters")
    for status, label in (("active", Confidence.STRONG), ("draft", Confidence.POSSIBLE)):
        root = build_base(tmp_path / status, {"training/none": text.replace("status: active", f"status: {status}")})
        assert answer_text(symptom, open_index([Base(root, "chosen", True)])).matches[0].confidence is label


def test_a_retired_entry_is_matched_only_when_asked_for(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """`--all` finds it."""
    root = build_base(tmp_path / "entries", {"data/old-one": make_entry().replace("status: active", "status: retired")})
    index = open_index([Base(root, "chosen", True)])
    text = "OSError: [Errno 28] No space left on device"

    assert answer_text(text, index).matches == ()
    assert answer_text(text, index, all=True).matches[0].id == "old-one"


HEALTHY = (
    "Epoch 12: 100%|##########| 200/200 [00:45<00:00, 4.4it/s, train_loss=0.52]\nSaving checkpoint to out/last.ckpt\nTraining completed.\n",
    "[INFO|trainer.py:2414] >> ***** Running training *****\n{'loss': 1.2, 'grad_norm': 0.8, 'epoch': 0.1}\n{'loss': 0.9, 'grad_norm': 0.7, 'epoch': 0.2}\n",
    "UserWarning: torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.\n250 epochs completed in 3.1 hours.\n",
)
STRANGERS = (
    "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\n",
    "2020/06/01 08:53:59 [error] 32#32: *65 connect() failed (111: Connection refused) while connecting to upstream, client: 198.51.100.10\n",
    "panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation]\n\ngoroutine 1 [running]:\n",
    "error: failed to push some refs to 'github.com:x/y.git'\nhint: Updates were rejected because the tip is behind\n",
    "def train(model, loader):\n    for x, y in loader:\n        loss = model(x, y)\n        loss.backward()\n",
    "Dear all, the meeting about the memory of our city archive was moved to Friday.\n",
    "",
)


@pytest.mark.parametrize("text", HEALTHY + STRANGERS, ids=range(len(HEALTHY + STRANGERS)))
def test_what_is_no_failure_of_this_trade_gets_no_answer(text: str) -> None:
    """Healthy logs with alarming words, other software's errors, code, prose, nothing: no match from the shipped base."""
    index = open_index([Base(shipped_entries(), "shipped", False)])

    assert answer_text(text, index).matches == ()


def test_secrets_of_a_log_stay_out_of_the_answer(library: Index) -> None:
    """A token in the failure's own line is in no field of the answer."""
    secret = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ01234567"
    given = answer_text(f"RuntimeError: Expected a 'cuda' device type for generator but found 'cpu' with token {secret}", library)

    assert given.matches and secret not in repr(given)


def test_a_calibration_of_ones_own_is_used_and_a_broken_one_is_not(library: Index) -> None:
    """It lies outside of the base; anything unreadable means the shipped one."""
    path = confidence.calibration_path(library.roots)
    path.parent.mkdir(parents=True)
    path.write_text('{"bias": 0, "weights": {"rating": 1}, "floor": 0.1, "strong": 0.99}')
    assert confidence.load_calibration(library.roots).strong == 0.99

    path.write_text("{")
    assert confidence.load_calibration(library.roots) == confidence.SHIPPED
