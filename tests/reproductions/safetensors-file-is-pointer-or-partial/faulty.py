"""A clone without Git LFS: the weights are a text of three lines."""

from pathlib import Path

from safetensors.torch import load_file

Path("model.safetensors").write_text(
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    "size 548105171\n"
)

weights = load_file("model.safetensors")
print(sorted(weights))
