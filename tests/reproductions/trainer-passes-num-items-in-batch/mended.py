"""The same method with the argument that Trainer has passed since 4.46."""

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

model = BertForSequenceClassification(BertConfig(vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8))
dataset = [{"input_ids": torch.tensor([1, 2, 3 + i]), "labels": i % 2} for i in range(4)]


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        return (2 * outputs.loss, outputs) if return_outputs else 2 * outputs.loss


arguments = TrainingArguments(output_dir="out", report_to="none", use_cpu=True, max_steps=1, disable_tqdm=True)
WeightedTrainer(model=model, args=arguments, train_dataset=dataset).train()
