"""The raw text stays in the dataset beside its token ids and reaches the collator."""

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import DataLoader
from transformers import DataCollatorWithPadding, PreTrainedTokenizerFast

words = "[UNK] [PAD] the cat sat on a mat and slept".split()
raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="[UNK]", pad_token="[PAD]")

dataset = Dataset.from_dict({"text": ["the cat sat", "a cat slept on the mat"]})
dataset = dataset.map(lambda row: tokenizer(row["text"]))

batch = next(iter(DataLoader(dataset, batch_size=2, collate_fn=DataCollatorWithPadding(tokenizer))))
print(sorted(batch))
