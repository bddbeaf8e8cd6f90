"""The same in bfloat16, which has the range of float32."""
import torch

features = torch.full((300,), 16.0, dtype=torch.bfloat16)
for step in range(2):
    norm = (features * features).sum()
    loss = norm / norm
    print(f"step {step} norm {norm.item()} loss {loss.item()}")
assert torch.isfinite(loss), "loss is nan"
