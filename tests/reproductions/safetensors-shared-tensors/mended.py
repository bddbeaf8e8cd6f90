"""The same model, stored by the function that keeps one copy and remembers the other name."""

from safetensors.torch import load_model, save_model
from torch import nn

model = nn.ModuleDict({"embed": nn.Embedding(20, 8), "head": nn.Linear(8, 20, bias=False)})
model["head"].weight = model["embed"].weight

save_model(model, "model.safetensors")
print(load_model(model, "model.safetensors"))
