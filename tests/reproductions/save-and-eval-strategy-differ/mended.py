"""The same; a checkpoint is written at every evaluation."""

from transformers import TrainingArguments

arguments = TrainingArguments(
    output_dir="out",
    eval_strategy="epoch",
    save_strategy="epoch",
    load_best_model_at_end=True,
    report_to="none",
)
print(arguments.metric_for_best_model)
self = arguments  # so its own code calls it, and the check with it
