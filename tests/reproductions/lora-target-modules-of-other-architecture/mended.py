"""The same, with the name that GPT-2 gives its attention projection."""

from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

model = GPT2LMHeadModel(GPT2Config(vocab_size=20, n_positions=16, n_embd=8, n_layer=1, n_head=1))
lora = LoraConfig(task_type="CAUSAL_LM", target_modules=["c_attn"], fan_in_fan_out=True)
model = get_peft_model(model, lora)
model.print_trainable_parameters()
peft_config = lora  # so the library calls it, and the check with it
