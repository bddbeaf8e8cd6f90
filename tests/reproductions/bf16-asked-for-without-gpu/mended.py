"""The same; bfloat16 only where the device has it."""

import torch
from transformers import TrainingArguments

arguments = TrainingArguments(output_dir="out", report_to="none", bf16=torch.cuda.is_available() and torch.cuda.is_bf16_supported())
print(arguments.bf16)
