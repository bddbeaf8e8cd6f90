"""Input and output embedding are one tensor; safetensors is asked to store both names."""

from safetensors.torch import save_file
from torch import nn

model = nn.ModuleDict({"embed": nn.Embedding(20, 8), "head": nn.Linear(8, 20, bias=False)})
model["head"].weight = model["embed"].weight

save_file(model.state_dict(), "model.safetensors")
print("saved")
