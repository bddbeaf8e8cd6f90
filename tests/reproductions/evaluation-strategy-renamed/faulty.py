"""A training script written for an older transformers release."""

from transformers import TrainingArguments

arguments = TrainingArguments(output_dir="out", evaluation_strategy="epoch", report_to="none")
print(arguments.eval_strategy)
