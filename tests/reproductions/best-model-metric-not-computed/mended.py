"""The same; compute_metrics returns the value under that name."""

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

model = BertForSequenceClassification(BertConfig(vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8))
dataset = [{"input_ids": torch.tensor([1, 2, 3 + i]), "labels": i % 2} for i in range(4)]

arguments = TrainingArguments(
    output_dir="out",
    report_to="none",
    use_cpu=True,
    disable_tqdm=True,
    max_steps=1,
    eval_strategy="steps",
    eval_steps=1,
    save_steps=1,
    load_best_model_at_end=True,
    metric_for_best_model="f1",
)
trainer = Trainer(model=model, args=arguments, train_dataset=dataset, eval_dataset=dataset, compute_metrics=lambda p: {"f1": 0.5})
trainer.train()
metrics, metric_to_check = trainer.evaluate(), "eval_f1"  # so the library calls them, and the check with it
