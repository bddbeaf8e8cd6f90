"""The same records with every id a string."""

import json
from pathlib import Path

from datasets import Dataset

rows = [{"id": str(i) if i < 2 else f"doc-{i}", "text": "the cat sat"} for i in range(4)]
Path("data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

records = [json.loads(line) for line in Path("data.jsonl").read_text().splitlines()]
dataset = Dataset.from_list(records)
print(dataset.features)
