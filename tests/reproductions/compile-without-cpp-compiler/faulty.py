"""torch.compile writes C++ for the CPU, and there is no compiler for it."""
import torch

model = torch.compile(torch.nn.Linear(4, 2))
print(model(torch.zeros(1, 4)).shape)
