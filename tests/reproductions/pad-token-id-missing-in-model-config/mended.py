"""The same batch; the model's config knows which token is padding."""

import torch
from transformers import GPT2Config, GPT2ForSequenceClassification

model = GPT2ForSequenceClassification(GPT2Config(vocab_size=20, n_positions=16, n_embd=8, n_layer=1, n_head=1, num_labels=2))
model.config.pad_token_id = 1
logits = model(input_ids=torch.tensor([[3, 4, 5], [3, 6, 1]])).logits
print(logits.shape)
self, batch_size = model, len(logits)  # so the library calls them, and the check with it
