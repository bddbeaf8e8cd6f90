"""A fine-tuned classifier of two classes is loaded for three."""

from transformers import AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification

config = BertConfig(vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, num_labels=2)
BertForSequenceClassification(config).save_pretrained("checkpoint")

model = AutoModelForSequenceClassification.from_pretrained("checkpoint", num_labels=3)
print(model.classifier)
