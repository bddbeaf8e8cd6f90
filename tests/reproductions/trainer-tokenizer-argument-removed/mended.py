"""The same under the name that covers image processors as well."""

from torch import nn
from transformers import Trainer, TrainingArguments

trainer = Trainer(model=nn.Linear(2, 2), args=TrainingArguments(output_dir="out", report_to="none"), processing_class=None)
print(trainer.processing_class)
