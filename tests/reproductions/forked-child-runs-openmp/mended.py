"""The same; the spawned child makes threads of its own."""

import faulthandler
import multiprocessing

import torch
from torch import nn

torch.set_num_threads(2)
model, batch = nn.Linear(1000, 1000), torch.zeros(1000, 1000)


def work() -> None:
    faulthandler.dump_traceback_later(100, exit=True)
    print("child:", model(batch).shape)


if __name__ == "__main__":
    print("parent:", model(batch).shape)
    child = multiprocessing.get_context("spawn").Process(target=work)
    child.start()
    child.join()
    print("child ended with", child.exitcode)
