"""A probability that underflowed to zero goes into a logarithm; anomaly detection names the place."""
import torch

torch.autograd.set_detect_anomaly(True)
scores = torch.tensor([0.0, -200.0], requires_grad=True)
probabilities = scores.softmax(0)
loss = -(probabilities * probabilities.log()).sum()
print("loss", loss.item())
loss.backward()
