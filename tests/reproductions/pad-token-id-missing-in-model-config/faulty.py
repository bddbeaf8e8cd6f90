"""A decoder model classifies a batch of several sequences, its config names no pad token."""

import torch
from transformers import GPT2Config, GPT2ForSequenceClassification

model = GPT2ForSequenceClassification(GPT2Config(vocab_size=20, n_positions=16, n_embd=8, n_layer=1, n_head=1, num_labels=2))
logits = model(input_ids=torch.tensor([[3, 4, 5], [3, 6, 1]])).logits
print(logits.shape)
