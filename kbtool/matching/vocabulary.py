"""Names of the trade: words by which a text shows that it speaks of deep learning, and the words of each phase."""

from __future__ import annotations

from kbtool.model import Phase

TRADE: frozenset[str] = frozenset(
    # libraries and their modules, as `tokens` cuts them
    "torch pytorch torchvision torchaudio torchrun tensorflow keras jax xla flax mxnet paddle paddlepaddle mindspore onnx onnxruntime tensorrt"
    " transformer diffuser accelerate peft trl deepspeed megatron fairseq lightning colossalai horovod apex vllm sglang triton bitsandbyte xformer"
    " huggingface_hub safetensor tokenizer timm ultralytic detectron2 mmcv mmdet mmengine nnunet wandb tensorboard verl llamafactory fsdp ddp gradscaler"
    # devices and runtimes
    " cuda cudnn cublas nccl gpu nvidia nvml nvrm rocm hip npu tpu gloo cuinit sm_"
    # things that only training and serving a model has
    " tensor autograd dataloader checkpoint state_dict epoch batch_size num_worker grad_norm learning_rate local_rank lora qlora finetune"
    " attention embedding logit".split()
)

TRADE_SYMBOLS: tuple[str, ...] = ("_ZN2at", "_ZNK2at", "_ZN3c10", "_ZNK3c10", "_ZN5torch", "_ZNK5torch")
"""How mangled names of torch's C++ namespaces (at, c10, torch) begin: a symbol that is not found often stands alone."""

EVERYDAY: frozenset[str] = frozenset(
    # exception types that Python itself raises in any program, whole and in parts
    "exception error warning assertionerror assertion attributeerror attribute eoferror filenotfounderror found importerror import indexerror index"
    " keyerror key modulenotfounderror module nameerror name notimplementederror oserror ioerror os permissionerror permission runtimeerror runtime"
    " stopiteration syntaxerror syntax timeouterror timeout typeerror type unboundlocalerror unicodedecodeerror unicode valueerror value zerodivisionerror"
    # and the words of its own messages
    " list tuple dict str int float bytes nonetype none object has attribute out range such file directory named cannot invalid literal base argument"
    " keyword unexpected got expected missing required positional unsupported operand operator call callable subscriptable iterable iteration"
    " defined local variable referenced assignment access associated permission denied unpack many enough value too index integer slice must string"
    " convert could decode codec byte position broken pipe connection refused exit returned non-zero status errno line traceback recent last most".split()
)
"""Words that Python's own exceptions have in any program: finding only these tells nothing of deep learning."""

PHASE_WORDS: dict[Phase, frozenset[str]] = {
    Phase.IMPORT: frozenset({"import", "installed", "install"}),
    Phase.LOAD: frozenset({"load", "loading", "loaded", "from_pretrained"}),
    Phase.DATA: frozenset({"dataset", "dataloader", "collate", "sampler", "worker"}),
    Phase.FORWARD: frozenset({"forward", "activation"}),
    Phase.LOSS: frozenset({"loss", "label", "target"}),
    Phase.BACKWARD: frozenset({"backward", "gradient"}),
    Phase.STEP: frozenset({"optimizer", "step"}),
    Phase.CHECKPOINT: frozenset({"checkpoint", "saving", "save"}),
    Phase.SERVE: frozenset({"serve", "server", "serving", "request"}),
}
"""Words in an entry's title, cause or fix that place it in a phase."""
