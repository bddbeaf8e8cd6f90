"""The same checkpoint, loaded with the classes that it has."""

from types import SimpleNamespace

from transformers import AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification

config = BertConfig(vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, num_labels=2)
BertForSequenceClassification(config).save_pretrained("checkpoint")

model, info = AutoModelForSequenceClassification.from_pretrained("checkpoint", output_loading_info=True)
print(model.classifier)
loading_info = SimpleNamespace(**info)  # so the library calls it, and the check with it
