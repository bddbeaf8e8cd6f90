"""A checkpoint that holds more than tensors is loaded with the default of torch 2.6 and later."""
import argparse
import torch

torch.save({"args": argparse.Namespace(lr=0.1), "weight": torch.zeros(2)}, "model.pt")
print(torch.load("model.pt"))
