"""The same under the name that the option has had since 4.41."""

from transformers import TrainingArguments

arguments = TrainingArguments(output_dir="out", eval_strategy="epoch", report_to="none")
print(arguments.eval_strategy)
