"""A job on a compute node without network asks for a model that was never downloaded there."""

import os

from transformers import AutoConfig

config = AutoConfig.from_pretrained(os.environ["MODEL"])
print(config.model_type)
