"""A dataset that was never tokenized: no column has the name of a forward argument."""

from datasets import Dataset
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

model = BertForSequenceClassification(BertConfig(vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8))
dataset = Dataset.from_dict({"text": ["the cat sat", "a cat slept"], "sentiment": [0, 1]})

arguments = TrainingArguments(output_dir="out", report_to="none", use_cpu=True, max_steps=1, disable_tqdm=True)
trainer = Trainer(model=model, args=arguments, train_dataset=dataset)
trainer.train()
