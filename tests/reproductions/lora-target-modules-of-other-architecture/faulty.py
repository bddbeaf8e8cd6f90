"""LoRA is asked for the layer names of a LLaMA; the model is a GPT-2."""

from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

model = GPT2LMHeadModel(GPT2Config(vocab_size=20, n_positions=16, n_embd=8, n_layer=1, n_head=1))
lora = LoraConfig(task_type="CAUSAL_LM", target_modules=["q_proj"])
model = get_peft_model(model, lora)
model.print_trainable_parameters()
