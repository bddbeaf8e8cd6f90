"""A configuration made for a GPU with bfloat16 starts where torch sees none."""

from transformers import TrainingArguments

arguments = TrainingArguments(output_dir="out", report_to="none", bf16=True)
print(arguments.bf16)
