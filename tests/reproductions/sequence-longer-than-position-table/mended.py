"""The same text, cut to the model's number of positions."""

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

words = "[UNK] <|endoftext|> the cat sat on a mat and slept".split()
raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="[UNK]", eos_token="<|endoftext|>")
from transformers import BertConfig, BertModel

model = BertModel(BertConfig(vocab_size=len(tokenizer), hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, max_position_embeddings=16))
model.eval()

inputs = tokenizer("the cat sat on a mat and slept " * 4, return_tensors="pt", return_token_type_ids=False, truncation=True, max_length=16)
print(model(**inputs).last_hidden_state.shape)
self, seq_length = model.embeddings, inputs["input_ids"].size(1)  # so the library calls them, and the check with it
