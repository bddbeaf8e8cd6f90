"""Two files of one split, the second with a column that the first lacks."""

import json

from datasets import load_dataset

rows = {"part-0.jsonl": {"text": "the cat sat", "label": 0}, "part-1.jsonl": {"text": "a cat slept", "label": 1, "source": "web"}}
for name, row in rows.items():
    with open(name, "w") as file:
        file.write(json.dumps(row) + "\n")

dataset = load_dataset("json", data_files=sorted(rows), split="train", cache_dir="cache")
print(dataset.features)
