"""What lines of a failing program look like: tables of shapes, each with its source; `report` reads them in order.

Extend a table here when a new launcher, library or logger appears; `tests/matching/test_signs.py` holds examples of both sides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from kbtool.model import Phase
from kbtool.patterns import Alternatives, Pattern, any_of


class Kind(Enum):
    """What a line is to the report."""

    __hash__ = object.__hash__  # Enum's own is written in Python, and every line is looked up by its kind

    BLANK = "blank"
    ADVICE = "advice"
    FALLOUT = "fallout"
    WRAPPER = "wrapper"
    TRACEBACK = "traceback"
    CHAIN = "chain"
    FRAME = "frame"
    PLACE = "place"
    """A frame where a thread of a silent process stands: in a dump of stacks it is the message."""
    CODE = "code"
    EXCEPTION = "exception"
    DETAIL = "detail"
    SIGN = "sign"
    WARNING = "warning"
    LOG = "log"
    PROGRESS = "progress"
    TEXT = "text"


class Shape(NamedTuple):
    """One shape and where it comes from."""

    source: str
    literal: str
    """What every text holds that the pattern matches."""
    pattern: Pattern


def _shapes(*rows: tuple[str, str, str]) -> tuple[Shape, ...]:
    return tuple(Shape(source, literal, Pattern(pattern, literal)) for source, literal, pattern in rows)


ADVICE: tuple[Shape, ...] = _shapes(
    ("torch CUDA errors", "asynchronously reported", r"CUDA kernel errors might be asynchronously reported at some other API call,? ?so the stack ?trace below might be incorrect\.?"),
    ("torch CUDA errors", "CUDA_LAUNCH_BLOCKING", r"For debugging consider passing CUDA_LAUNCH_BLOCKING ?= ?1\.?"),
    ("torch CUDA errors", "TORCH_USE_CUDA_DSA", r"(?:Device-side assertions? (?:were|was) explicitly omitted.*)?Compile with `?TORCH_USE_CUDA_DSA`? to enable device-side assertions\.?"),
    ("torch HIP errors", "For debugging consider", r"For debugging consider passing (?:AMD_SERIALIZE_KERNEL|HIP_LAUNCH_BLOCKING) ?= ?\d\.?"),
    ("torch out of memory", "avoid fragmentation", r"If reserved (?:but unallocated )?memory is (?:>> allocated memory|large),? try setting [\w:= .]+? to avoid\s+fragmentation\.?"),
    ("torch out of memory", "Memory Management", r"See\s+documentation\s+for\s+Memory\s+Management(?:\s+and\s+PYTORCH_\w+)?(?:\s*\(https?://\S+\))?"),
    ("torch elastic", "To enable traceback", r"To enable traceback see: https?://\S+"),
    ("torch elastic", "OMP_NUM_THREADS", r"Setting OMP_NUM_THREADS environment variable for each process to be 1 in default.*"),
    ("nccl", "NCCL_DEBUG=", r"\(run with NCCL_DEBUG=(?:INFO|WARN) for details\)"),
    ("torch distributed", "For more info", r"For more info, please see:? https?://\S+"),
    ("hydra", "HYDRA_FULL_ERROR", r"Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace\.?"),
    ("torch dynamo", "suppress this exception", r"You can suppress this exception and fall back to eager by setting:?"),
    ("torch dynamo", "TORCH_LOGS", r"Set TORCH_LOGS=.* for more information"),
    ("torch dynamo", "TORCHDYNAMO_VERBOSE", r"for more information, you can do so by setting .*TORCHDYNAMO_VERBOSE=1"),
    ("colab", "NOTE: If your import", r"NOTE: If your import is failing due to a missing package, you can"),
    ("colab", "manually install", r"manually install dependencies using either !pip or !apt\."),
    ("huggingface tokenizers", "just got forked", r"huggingface/tokenizers: The current process just got forked, after parallelism has already been used\..*"),
    ("huggingface tokenizers", "To disable this warning", r"To disable this warning, you can either:"),
    ("huggingface tokenizers", "before the fork", r"- Avoid using `?tokenizers`? before the fork if possible"),
    ("huggingface tokenizers", "TOKENIZERS_PARALLELISM", r"- Explicitly set the environment variable TOKENIZERS_PARALLELISM=.*"),
    ("jax", "internal frames", r"For simplicity, JAX has removed its internal frames.*"),
    ("faulthandler", "Timeout (", r"^Timeout \(\d+:\d\d:\d\d(?:\.\d+)?\)!$"),
    ("tensorflow", "rebuild TensorFlow", r"To enable them in other operations, rebuild TensorFlow with the appropriate compiler flags\.?"),
)
"""Sentences that a library adds to many different errors. They are cut out and are never evidence."""

FALLOUT: tuple[Shape, ...] = _shapes(
    ("torch ProcessGroupNCCL", "Watchdog caught", r"Watchdog caught collective operation timeout"),
    ("torch ProcessGroupNCCL", "watchdog at work", r"detected by watchdog at work"),
    ("torch ProcessGroupNCCL", "error or timeout", r"Exception \(either an error or timeout\)"),
    ("torch ProcessGroupNCCL", "NCCL operations", r"Some NCCL operations have failed or timed out"),
    ("torch ProcessGroupNCCL", "data inconsistency", r"To avoid data inconsistency, we are (?:taking|tearing)"),
    ("torch ProcessGroupNCCL", "atchdog thread", r"[Ww]atchdog thread terminated with exception"),
    ("torch ProcessGroupNCCL", "dump signal", r"Received a dump signal"),
    ("torch ProcessGroupNCCL", "destroy_process_group", r"destroy_process_group\(\) was not called"),
    ("torch TCPStore", "TCPStore", r"TCPStore.*(?:recvValue failed|Connection reset|Broken pipe|sendBytes failed)"),
    ("torch TCPStore", "should dump", r"Failed to check the \"should dump\" flag"),
    ("gloo", "gloo/transport", r"gloo/transport/\w+/\w+\.cc:\d+\].*(?:closed by peer|reset by peer|Broken pipe)"),
    ("nccl", "remote process exited", r"remote process exited or there was a network error"),
    ("nccl", "closed by remote peer", r"closed by remote peer"),
    ("C++ runtime", "terminate called", r"terminate called (?:after throwing an instance of|without an active exception|recursively)"),
    ("torch elastic", "Sending process", r"Sending process \d+ closing signal SIG\w+"),
    ("torch elastic", "shutdown process", r"Unable to shutdown process \d+"),
    ("torch elastic", "failed (exitcode", r"failed \(exitcode: -?\d+\) (?:local_rank|.*of binary)"),
    ("torch elastic", "ChildFailedError", r"ChildFailedError"),
    ("torch elastic", "OTHER_FAILURES", r"<NO_OTHER_FAILURES>"),
    ("torch elastic", "first observed failure", r"^\s*Root Cause \(first observed failure\)"),
    ("torch elastic", " : ", r"^\s*(?:time|host|rank|exitcode|error_file|traceback) +: "),
    ("torch elastic", " FAILED", r"^\S+ FAILED$"),
    ("torch elastic", "ailures:", r"^\s*(?:Other )?Failures:$"),
    ("torch elastic", "]:", r"^\[\d+\]:$"),
    ("subprocess", "non-zero exit", r"returned non-zero exit status"),
    ("subprocess", "CalledProcessError", r"subprocess\.CalledProcessError"),
    ("deepspeed launcher", "sigkill_handler", r"sigkill_handler\] (?:Killing subprocess|.*exits with return code)"),
    ("deepspeed launcher", "Killing subprocess", r"^Killing subprocess \d+"),
    ("vllm", "Engine core", r"Engine core initialization failed"),
    ("vllm", "root cause above", r"See root cause above"),
    ("vllm", "EngineCore enc", r"EngineCore encountered a fatal error"),
    ("vllm", "EngineDeadError", r"EngineDeadError"),
    ("slurm", "srun:", r"srun: (?:error: .*: task \S+: |Job step aborted|Terminating)"),
    ("slurm", "slurmstepd", r"slurmstepd: error: \*\*\* STEP"),
    ("slurm", "Force Terminated", r"Force Terminated"),
    ("mpirun", "Primary job", r"Primary job +terminated normally"),
    ("mpirun", "mpirun ", r"mpirun (?:detected|noticed) that"),
    ("mpirun", "MPI_ABORT", r"MPI_ABORT was invoked"),
    ("multiprocessing", "resource_tracker", r"resource_tracker: There appear to be \d+ leaked"),
    ("multiprocessing", "exited unexpectedly", r"DataLoader worker \(pid\(?s?\)? [\d, ]+\) exited unexpectedly"),
    ("ray", "actor died", r"The actor died (?:because|unexpectedly)"),
    ("ray", "ActorDiedError", r"ActorDiedError"),
    ("shell", "make: ***", r"^\s*make: \*\*\*"),
    ("shell", "exit", r"^\s*(?:exit status \d|exited with code \d)"),
)
"""What other ranks, launchers and runtimes say after something else has failed."""


def shapes_in(text: str) -> tuple[Sequence[Shape], Sequence[Shape]]:
    """What of the tables of advice and of fallout the lines of a text may hold: mostly little, and the rest need not be tried line by line."""
    return [shape for shape in ADVICE if shape.literal in text], [shape for shape in FALLOUT if shape.literal in text]


def without_advice(text: str, advice: Sequence[Shape] = ADVICE) -> str:
    """The line without the sentences that are advice; each leaves a blank."""
    for shape in advice:
        text = shape.pattern.sub(" ", text)
    return text


def fallout_family(text: str, fallout: Sequence[Shape] = FALLOUT) -> str:
    """Who says it, where a line is fallout: the source of the first shape that fits; empty for none."""
    return next((shape.source for shape in fallout if shape.pattern.search(text)), "")


DEADLY_EXIT = Pattern(
    r"exitcode\s*: -\d+|return code = -\d+|SIGKILL|SIGSEGV|SIGBUS|SIGILL|SIGABRT|SIGHUP|SIGINT|got signal: \d+",
    *("exitcode", "return code", "SIG", "got signal"),
)
"""A launcher's line that names the signal: for a process that died without a word it is the only evidence."""

WRAPPER_LINE = any_of(
    r"Caught \w+ in (?:DataLoader worker process|replica) \d+",
    r"Exception in (?:thread|callback)",
    r"Error executing job with overrides",
    r"An error occurred while generating the dataset$",
    r"ray\.exceptions\.RayTaskError\(\w+\)",
    literals=("Caught ", "Exception in ", "Error executing", "generating the dataset", "RayTaskError"),
)
"""Lines that only carry another exception from one process to the next."""

ECHO = any_of(
    r"device-side assert triggered",
    r"unhandled (?:cuda|system) error",
    r"(?:look up|see above|see below|refer to the logs?) (?:to see|for) (?:its|the) (?:traceback|original error|root cause)",
    literals=("device-side assert", "unhandled ", "look up ", "see above", "see below", "refer to "),
)
"""Messages that only say that something else failed; where that something is in the input too, it is the failure."""
NATIVE_ASSERTION = Pattern(r"\bAssertion\b.{1,200}\bfailed\b", "Assertion")
"""An assertion of a kernel or of C++ code, as CUDA, glibc and libraries print it."""

TRACEBACK_LINE = Pattern(r"^\W{0,40}(?:Original )?(?:Python |C\+\+ )?Traceback(?: \(most recent call last\))?\W{0,100}$", "Traceback")
STACK_HEADER = Pattern(r"^(?!.*Exception raised from)(?=.*(?:[Tt]hread|PID)).*\(most recent call first\):?\s*$", "(most recent call first)")
"""What faulthandler and `kb run` write above the stack of a thread; C++ exceptions carry such words too, and are none."""
CHAIN_DIRECT = "The above exception was the direct cause of the following"
CHAIN_HANDLING = "During handling of the above exception, another exception occurred"

FRAME_LINE = any_of(
    r"^\s*File \"?(?P<file>[^\"\n]+?)\"?, line \d+(?:,? in (?P<name>.+))?$",
    r"^\s*File (?P<file2>[~./\\\w<>:-]+?\.pyx?):\d+, in (?P<name2>[\w.<>]+)",
    r"^\s*(?:[│❱>]\s*)*(?P<file3>(?:[A-Za-z]:)?[~./\\\w@+ -]*[\w-]+\.pyx?):\d+ in\s+(?P<name3>[\w.<>]*)",
    r"^\s*(?P<file4>[~./\\\w-]+\.pyx?) in (?P<name4>[\w.<>]+)\(.*\)$",
    r"^\s*frame #\d+: (?P<name5>.+)$",
    r"^\s*at (?P<name6>[\w.$<>]+)\((?:[\w.]+\.(?:java|js|kt):\d+|Unknown Source|Native Method)\)",
    r"^\s*#\d+ 0x[0-9a-f]+ in (?P<name7>\S+)",
    literals=(".py", ", line ", "frame #", " 0x", "at "),
)
CODE_LINE = any_of(r"^\s*[\^~]+\s*$", r"^\s*(?:-+>|❱)\s*\d+", r"^\s{0,6}\d+ *(?:│|\s{3,})", r"^\s*│", literals=("^", "~", "->", "❱", "│", "   ", "\t"))

EXCEPTION_LINE = re.compile(
    r"^\s*(?:[│|E]\s+)?(?P<type>(?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Failure|Fault|Timeout|Expired|Cancelled)|[A-Z]\w*Warning))"
    r"(?::\s*(?P<message>.*)|\s*)$"
)
DOTTED_EXCEPTION = Pattern(r"^(?P<type>[a-z_]\w*(?:\.\w+)*\.[A-Z]\w+): (?P<message>.+)$", ": ")
EMBEDDED_EXCEPTION = Pattern(r"(?P<type>\b(?:[a-z_]\w*\.){0,12}[A-Z][A-Za-z]*(?:Error|Exception)): (?P<message>\S.*)$", "Error: ", "Exception: ")


def exception_in(text: str) -> re.Match[str] | None:
    """The exception that a line names, with its `type` and `message`; on its own line first, then in the midst of another."""
    return EXCEPTION_LINE.match(text) or DOTTED_EXCEPTION.match(text) or EMBEDDED_EXCEPTION.search(text)


def bare_type(found: re.Match[str]) -> str:
    """The type of an exception that was found, without its module."""
    return str(found["type"]).rsplit(".", 1)[-1]


DETAIL_TYPES: frozenset[str] = frozenset({"KeyError", "AttributeError", "StopIteration", "Empty", "ModuleNotFoundError", "LookupError", "IndexError"})
"""Types that code catches to do something else: at the head of a "during handling" chain they are a detail, not the failure."""

SIGN_WORDS: frozenset[str] = frozenset(
    "error errors failed failure fatal cannot can't couldn't unable killed abort aborted segmentation assert assertion exceed exceeds exceeded timeout"
    " illegal invalid mismatch unexpected unsupported incompatible insufficient oom refused denied unrecognized missing conflict corrupt corrupted"
    " stuck hang hangs hanging signal panic xid nan".split()
)
SIGN_PHRASES: tuple[str, ...] = (
    *("could not ", "timed out", "no space", "not found", "no such", "not supported", "not compatible", "too old", "too many", "out of memory", "not enough", "bus error"),
    *("out of range", "out of bounds", "undefined symbol", "undefined reference", "deadlock", "freezes", "get stuck"),
    *("错误", "失败", "不足", "异常", "无法", "超时", "卡死", "崩溃", "未找到"),
)
"""Words and phrases, in lower case, that make a line a sign of failure."""
_WORD = re.compile(r"(?<![\w'])[a-z][a-z']*(?!\w)")
_NAMED_ERROR = Pattern(r"[A-Z]\w{1,60}(?:Error|Exception)\b", "Error", "Exception")


def is_sign(text: str) -> bool:
    """True for a line with a word, a phrase or a name that tells of a failure."""
    lowered = text.lower()
    if not SIGN_WORDS.isdisjoint(_WORD.findall(lowered)) or any(phrase in lowered for phrase in SIGN_PHRASES):
        return True
    return bool(_NAMED_ERROR.search(text))


WARNING_LINE = any_of(r"\b[A-Z]\w*Warning\b", r"\bWARN(?:ING)?\b", r"^\s*warning\b", r"^W\d{4}\b", literals=("W", "warning"))
LOG_LINE = any_of(r"\b(?:INFO|DEBUG|TRACE)\b", r"^[ID]\d{4}\b", literals=("I", "D", "TRACE"))
PROGRESS: tuple[Pattern, ...] = (
    Pattern(r"^\s*\d+%\|", "%|"),
    Pattern(r"\b(?:steps?|epochs?|iter(?:ation)?s?|batch)\b[\s/:=\[(|]*\d+.*\b(?:loss|acc\w*|lr|eta|time|map)\b", "step", "epoch", "iter", "batch"),
    Pattern(r"^\s*\{'(?:loss|train_|eval_)", "{'"),
    Pattern(r"\b(?:it/s|s/it|tok/s|samples/s|batch/s|s/batch|tokens/s|img/s|s/step|ms/step)\b", "/s", "/it", "/batch", "/step"),
    Pattern(r"\bloss: \d+\.\d+", "loss: "),
)
"""What training loops and progress bars print, in lower case."""


def is_progress(text: str) -> bool:
    """True for a line that tells how far a run has come."""
    lowered = text.lower()
    return any(shape.search(lowered) for shape in PROGRESS)


SICK_METRIC = Pattern(r"\b(?:loss|grad_?norm|perplexity|ppl)\w*['\"]?\s*[:=|]?\s*(?:nan|[+-]?inf|0\.0+\b)", flags=re.IGNORECASE)
"""A metric that no healthy run prints: a loss or gradient norm that is not a number, infinite or exactly zero."""
PROGRESS_BAR = Alternatives(
    Pattern(r"(?:[\w ().:/-]{0,40}?)?\d{1,3}%\|[^|]*\|[^\[\n]{0,40}(?:\[[^\]\n]*\]?)?", "%|"),
    Pattern(r"\[[=>.#█ -]{8,}\](?:[^A-Z\n]*ETA: *[\d:]+)?", "[=", "[>", "[.", "[#", "[█", "[ ", "[-"),
)

PHASES: tuple[tuple[Phase, Pattern], ...] = (
    (Phase.BACKWARD, Pattern(r"torch[/\\](?:_tensor|tensor|autograd[/\\]__init__|autograd[/\\]graph)\.py\b.*\bbackward|\bbackward$|_engine_run_backward|autograd")),
    (Phase.STEP, Pattern(r"[/\\]optim[/\\]|grad_scaler|clip_grad|\boptimizer_step$|\boptimizer\b.*\bstep$|fused_adam|cpu_adam|stage_?[123]\w*\.py.*\bstep$")),
    (Phase.LOSS, Pattern(r"[/\\]loss(?:es)?\.py|cross_entropy|\bnll_loss|binary_cross_entropy|\bcompute_loss$|criterion")),
    (Phase.DATA, Pattern(r"utils[/\\]data|dataloader|dataset|collat|__getitem__|sampler|[/\\]PIL[/\\]|[/\\]datasets[/\\]|torchaudio|tokenization_|h5py")),
    (Phase.CHECKPOINT, Pattern(r"\bsave(?:_\w+)?$|save_checkpoint|save_pretrained|torch[/\\]serialization\.py.*\b_?(?:legacy_)?save")),
    (Phase.LOAD, Pattern(r"serialization\.py|from_pretrained|load_state_dict|load_checkpoint|load_model|safetensors|huggingface_hub|load_file|\bload$|modeling_utils")),
    (Phase.FORWARD, Pattern(r"\bforward$|_call_impl|_wrapped_call|nn[/\\]functional|nn[/\\]modules|modeling_\w+\.py")),
    (Phase.SERVE, Pattern(r"uvicorn|gunicorn|fastapi|starlette|flask|vllm[/\\]|tritonserver|ray[/\\]serve|torchserve|gradio")),
    (Phase.IMPORT, Pattern(r"importlib|<frozen importlib|\bimport_module$|__init__\.py.*<module>")),
)
"""Which file or function of a frame tells the phase; the innermost telling frame decides."""


def phase_of(frame: str) -> Phase | None:
    """The phase that a frame tells, or None."""
    return next((phase for phase, shape in PHASES if shape.search(frame)), None)


IMPORT_TYPES: frozenset[str] = frozenset({"ImportError", "ModuleNotFoundError"})
