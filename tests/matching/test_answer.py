"""From a text to an answer."""

from __future__ import annotations

from kbtool.cli.answers import answer_json
from kbtool.knowledge.layers import Base
from kbtool.matching.answer import answer_text
from kbtool.matching.index import open_index
from kbtool.settings import shipped_entries

TRACEBACK = """\
Epoch 3:  12%|#2        | 12/100 [00:03<00:27,  3.22it/s]
Traceback (most recent call last):
  File "train.py", line 12, in <module>
    net(x)
  File "/opt/py/lib/python3.11/site-packages/torch/nn/functional.py", line 2450, in batch_norm
    _verify_batch_size(input.size())
ValueError: Expected more than 1 value per channel when training, got input size torch.Size([1, 8])
"""


def test_the_shipped_entry_of_a_real_traceback_comes_first() -> None:
    """A batch-norm failure finds the entry about it, with the line that says so."""
    index = open_index([Base(shipped_entries(), "shipped", writable=False)])

    given = answer_text(TRACEBACK, index)

    assert given.matches[0].id == "batchnorm-single-value"
    assert 7 in [reason.line for reason in given.matches[0].why]
    assert answer_json(given)["error"]["type"] == "ValueError"


def test_a_healthy_text_gets_no_match() -> None:
    """Prose about a walk matches nothing."""
    index = open_index([Base(shipped_entries(), "shipped", writable=False)])

    assert answer_text("We walked along the river and came home late.\n", index).matches == ()
