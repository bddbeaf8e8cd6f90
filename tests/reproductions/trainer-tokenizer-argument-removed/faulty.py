"""Trainer gets the tokenizer under its old name."""

from torch import nn
from transformers import Trainer, TrainingArguments

trainer = Trainer(model=nn.Linear(2, 2), args=TrainingArguments(output_dir="out", report_to="none"), tokenizer=None)
print(trainer.processing_class)
