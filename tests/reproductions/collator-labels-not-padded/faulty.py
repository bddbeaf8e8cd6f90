"""A padding collator gets labels of unequal length, one per token."""

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import DataCollatorWithPadding, PreTrainedTokenizerFast

words = "[UNK] [PAD] the cat sat on a mat and slept".split()
raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="[UNK]", pad_token="[PAD]")

features = []
for text in ("the cat sat", "a cat slept on the mat"):
    encoded = tokenizer(text)
    features.append({"input_ids": encoded["input_ids"], "labels": list(encoded["input_ids"])})

collator = DataCollatorWithPadding(tokenizer)
batch = collator(features)
print(batch["labels"])
