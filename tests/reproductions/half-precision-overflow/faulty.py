"""A sum of squares leaves the range of float16."""
import torch

features = torch.full((300,), 16.0, dtype=torch.float16)
for step in range(2):
    norm = (features * features).sum()
    loss = norm / norm
    print(f"step {step} norm {norm.item()} loss {loss.item()}")
assert torch.isfinite(loss), "loss is nan"
