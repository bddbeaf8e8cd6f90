"""A folder with a loading script, the form that datasets before 4.0 ran."""

from pathlib import Path

from datasets import load_dataset

Path("corpus").mkdir(exist_ok=True)
Path("corpus/corpus.py").write_text("import datasets\n\n\nclass Corpus(datasets.GeneratorBasedBuilder):\n    pass\n")

dataset = load_dataset("corpus", split="train", cache_dir="cache")
print(dataset.features)
