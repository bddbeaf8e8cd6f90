"""The same corpus as data files, read by a built-in loader."""

from pathlib import Path

from datasets import load_dataset

Path("corpus").mkdir(exist_ok=True)
Path("corpus/train.jsonl").write_text('{"text": "the cat sat"}\n')

dataset = load_dataset("corpus", split="train", cache_dir="cache")
print(dataset.features)
