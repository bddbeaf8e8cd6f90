"""The model returns its hidden states too, so the metric function gets a tuple where it expects one array."""

import numpy
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

config = BertConfig(vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, output_hidden_states=True)
model = BertForSequenceClassification(config)
dataset = [{"input_ids": torch.tensor([1, 2, 3 + i]), "labels": i % 2} for i in range(4)]


def compute_metrics(eval_pred):
    predictions = eval_pred.predictions
    labels = eval_pred.label_ids
    return {"accuracy": float((numpy.argmax(predictions, axis=-1) == labels).mean())}


arguments = TrainingArguments(output_dir="out", report_to="none", use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=arguments, eval_dataset=dataset, compute_metrics=compute_metrics)
print(trainer.evaluate()["eval_accuracy"])
