"""The same; the surroundings hold a cache that was filled where there is a network."""

import os

from transformers import AutoConfig

config = AutoConfig.from_pretrained(os.environ["MODEL"])
print(config.model_type)
