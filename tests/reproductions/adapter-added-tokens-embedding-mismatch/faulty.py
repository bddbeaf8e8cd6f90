"""An adapter that was saved together with a grown embedding is loaded onto a base model of the old size."""

from peft import LoraConfig, PeftModel, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel


def base(vocabulary: int = 20) -> GPT2LMHeadModel:
    return GPT2LMHeadModel(GPT2Config(vocab_size=vocabulary, n_positions=16, n_embd=8, n_layer=1, n_head=1))


trained = base()
trained.resize_token_embeddings(24)
lora = LoraConfig(task_type="CAUSAL_LM", target_modules=["c_attn"], modules_to_save=["wte", "lm_head"], fan_in_fan_out=True)
get_peft_model(trained, lora).save_pretrained("adapter")

model = base()
model = PeftModel.from_pretrained(model, "adapter")
print(model.get_input_embeddings().weight.shape)
