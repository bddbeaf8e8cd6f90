"""The same conversation; the template that the model was tuned with is set."""

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

words = "[UNK] <|endoftext|> the cat sat on a mat and slept".split()
raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="[UNK]", eos_token="<|endoftext|>")
tokenizer.chat_template = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"

prompt = tokenizer.apply_chat_template([{"role": "user", "content": "the cat sat"}], tokenize=False)
print(prompt)
self = tokenizer  # so the library calls it, and the check with it
