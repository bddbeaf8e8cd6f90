"""The best checkpoint is to be loaded at the end, but checkpoints and evaluations come at different times."""

from transformers import TrainingArguments

arguments = TrainingArguments(
    output_dir="out",
    eval_strategy="epoch",
    save_strategy="steps",
    load_best_model_at_end=True,
    report_to="none",
)
print(arguments.metric_for_best_model)
