"""The same batch; the end-of-text token serves as padding."""

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

words = "[UNK] <|endoftext|> the cat sat on a mat and slept".split()
raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="[UNK]", eos_token="<|endoftext|>")
tokenizer.pad_token = tokenizer.eos_token

batch = tokenizer(["the cat sat", "a cat slept on the mat"], padding=True, return_tensors="pt")
print(batch["input_ids"].shape)
self = tokenizer  # so the library calls it, and the check with it
