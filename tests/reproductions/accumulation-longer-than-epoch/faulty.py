"""Gradients are accumulated over eight batches, the epoch has six, and the counter begins anew: no update ever happens."""
import torch
from torch import nn

torch.manual_seed(0)
model, loader, accumulation_steps = nn.Linear(2, 1), [(torch.ones(4, 2), torch.zeros(4, 1))] * 6, 8
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    optimizer.zero_grad()
    for step, (x, y) in enumerate(loader, 1):
        loss = nn.functional.mse_loss(model(x), y)
        (loss / accumulation_steps).backward()
        if step % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(f"epoch {epoch} loss {loss.item():.6f}")
