"""log_softmax stays finite."""
import torch

torch.autograd.set_detect_anomaly(True)
scores = torch.tensor([0.0, -200.0], requires_grad=True)
logarithms = scores.log_softmax(0)
loss = -(logarithms.exp() * logarithms).sum()
print("loss", loss.item())
loss.backward()
