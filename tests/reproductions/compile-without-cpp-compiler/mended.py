"""The compiler is there."""
import torch

model = torch.compile(torch.nn.Linear(4, 2))
print(model(torch.zeros(1, 4)).shape)
