"""The same after tokenizing, with the label column renamed."""

from datasets import Dataset
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

model = BertForSequenceClassification(BertConfig(vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8))
dataset = Dataset.from_dict({"input_ids": [[1, 2, 3], [1, 2, 4]], "labels": [0, 1]})

arguments = TrainingArguments(output_dir="out", report_to="none", use_cpu=True, max_steps=1, disable_tqdm=True)
trainer = Trainer(model=model, args=arguments, train_dataset=dataset)
trainer.train()
signature_columns = trainer._signature_columns  # so the library calls them, and the check with it
