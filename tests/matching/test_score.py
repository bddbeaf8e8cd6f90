"""Near misses share most words with a symptom and differ in one; that one decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from kbtool.knowledge.layers import Base
from kbtool.matching import confidence
from kbtool.matching.answer import answer_text, scored
from kbtool.matching.index import Index, open_index
from kbtool.matching.query import make_query
from kbtool.matching.report import report_text
from kbtool.matching.score import FEATURES
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


def features(text: str, tmp_path: Path, entry: str) -> Mapping[str, float]:
    """The features of a base's one entry for a text."""
    index = open_index([Base(build_base(tmp_path / "entries", {"data/one-entry": entry}), "chosen", True)])
    return scored(report_text(text), index)[0].comparison.features


@pytest.mark.parametrize(
    ("message", "text", "everyday"),
    [
        ("KeyError: 'user'", "KeyError: 'item'", True),
        ("IndexError: list index out of range", "IndexError: list index out of range", True),
        ("KeyError: no tensor named lm_head in the checkpoint", "KeyError: no tensor named lm_head in the checkpoint", False),
    ],
)
def test_words_that_any_python_program_prints_are_no_evidence(tmp_path: Path, make_entry: Callable[..., str], message: str, text: str, everyday: bool) -> None:
    """A message of Python's own words keeps the score low however exactly it is found; one word of the trade lifts that."""
    index = open_index([Base(build_base(tmp_path / "entries", {"data/one-entry": make_entry(symptom=message), "data/other-one": make_entry()}), "chosen", True)])
    found = scored(report_text(text), index)[0]

    assert found.record.id == "one-entry"
    assert (found.comparison.features["key_everyday"] > 0.5) is everyday
    assert (found.probability < 0.4) is everyday


FRAMES = 'Traceback (most recent call last):\n  File "/opt/lib/python3.11/site-packages/{place}\nRuntimeError: shape of the mask does not fit\n'


@pytest.mark.parametrize(
    ("place", "elsewhere"),
    [('torch/nn/functional.py", line 5, in softmax', False), ('datasets/arrow_writer.py", line 77, in finalize_table', True), ("", False)],
)
def test_frames_of_another_place_count_against_an_entry(tmp_path: Path, make_entry: Callable[..., str], place: str, elsewhere: bool) -> None:
    """The same message from other code is another report's until shown otherwise; where either shows no frames nothing follows."""
    symptom = FRAMES.format(place='torch/nn/functional.py", line 5, in softmax')
    text = FRAMES.format(place=place) if place else "RuntimeError: shape of the mask does not fit\n"

    assert (features(text, tmp_path, make_entry(symptom=symptom))["frames_elsewhere"] > 0.5) is elsewhere


def test_a_wording_that_names_nothing_salient_earns_nothing_by_it(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Where no word of the wording stands in title, cause or fix, what is missing of the wording itself counts."""
    entry = make_entry(title="Quota reached", symptom="cannot flush shard zebra quickly", root_cause="Quota.", fix="Ask for more.")

    assert features("cannot flush shard zebra quickly", tmp_path, entry)["salient_missing"] == 0.0
    assert features("RuntimeError: cannot open giraffe", tmp_path, entry)["salient_missing"] > 0.5


def test_what_stands_in_fallout_only_is_missing(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """A rank's timeout beside another rank's own exception is no evidence for the entry about timeouts; alone it is."""
    timeout = "[rank0]: Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE) ran for 600041 milliseconds before timing out."
    entry = make_entry(title="Ranks wait: the watchdog reports a collective timeout", symptom=timeout, root_cause="One rank evaluates alone.")

    assert features(timeout, tmp_path, entry)["salient_missing"] < 0.1
    assert features(f"[rank1]: ValueError: labels are missing\n{timeout}", tmp_path, entry)["salient_missing"] > 0.5


def test_more_wordings_make_a_fit_by_accident_likelier(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """The same text found by the same wording scores a little lower in an entry that has others too, and stays first."""
    symptom = "RuntimeError: received 0 items of ancdata"
    scores = []
    for count in (1, 3):
        more = "".join(f"```text\nOSError: shard {name} is unreadable\n```\n\n" for name in ("zebra", "giraffe")[: count - 1])
        entries = {"data/files": make_entry(symptom=symptom).replace("## Root cause", f"{more}## Root cause"), "data/other-one": make_entry()}
        found = answer_text(symptom, open_index([Base(build_base(tmp_path / str(count), entries), "chosen", True)])).matches[0]
        scores.append(found.score)
        assert found.id == "files"

    assert scores[0] > scores[1] > scores[0] - 0.2


def test_scores_fall_with_the_order(library: Index) -> None:
    """No rival is shown with a higher score than the one above it."""
    text = "RuntimeError: Expected a 'cuda' device for argument 'device_map'\nfailed (exitcode: -9) local_rank: 1 (pid: 3) of binary: python"
    scores = [match.score for match in answer_text(text, library).matches]

    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)


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


FIRM = {**dict.fromkeys(FEATURES, 0.0), "explained": 1.0, "phrase": 1.0, "key_information": 3.0, "coverage": 1.0}


@pytest.mark.parametrize(
    ("changed", "troubled", "at_home", "answered"),
    [
        ({}, True, True, True),
        ({}, False, False, True),
        ({"key_missing": 0.6}, True, True, True),
        ({"key_missing": 0.6}, False, True, False),
        ({"key_information": 2.0, "coverage": 0.3}, True, True, True),
        ({"key_information": 2.0, "coverage": 0.3}, True, False, False),
        ({"explained": 0.0, "phrase": 0.0, "salient_missing": 1.0}, True, True, False),
    ],
)
def test_what_may_be_answered_at_all(changed: dict[str, float], troubled: bool, at_home: bool, answered: bool) -> None:
    """A healthy text needs half of the decisive line, another trade's needs more of it, and what is missing may not outweigh what was found."""
    assert confidence.plausible({**FIRM, **changed}, troubled=troubled, at_home=at_home, excepted=False) is answered


@pytest.mark.parametrize(("symbol", "ours"), [("_ZN3c105ErrorC2ENS_14SourceLocationE", True), ("_ZN2at4_ops4view4callERKNS_6TensorE", True), ("_ZN5boost6system15system_categoryEv", False)])
def test_a_symbol_of_torch_shows_the_trade(symbol: str, ours: bool) -> None:
    """A line that only names a missing C++ symbol speaks of deep learning where the symbol is torch's."""
    assert make_query(report_text(f"ext.so: undefined symbol: {symbol}")).at_home is ours
