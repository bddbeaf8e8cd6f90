"""A base model's tokenizer is asked to format a conversation."""

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

words = "[UNK] <|endoftext|> the cat sat on a mat and slept".split()
raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="[UNK]", eos_token="<|endoftext|>")

prompt = tokenizer.apply_chat_template([{"role": "user", "content": "the cat sat"}], tokenize=False)
print(prompt)
