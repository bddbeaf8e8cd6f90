"""What a Python process of a supervised job writes about itself: one flushed, ASCII-only JSON line an event.

Runs inside the job, so it uses only what the interpreter has already loaded, costs microseconds an import, and gives up silently.
It learns of imports through the lock that the import system takes for each module: that lock's context manager is told when an
import begins, and what it raised; loaders, specs, finders and tracebacks stay as they are.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import get_ident

FORMAT = 1

VARIABLES = (
    "CUDA_", "NVIDIA_VISIBLE", "HIP_", "ROCR_", "NCCL_", "GLOO_", "TORCH", "PYTORCH_", "MASTER_", "RANK", "WORLD_SIZE", "LOCAL_", "GROUP_",
    "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_JOB_ID", "SLURM_NODEID", "OMPI_COMM_WORLD_", "PMI_", "OMP_", "MKL_", "KMP_",
    "OPENBLAS_", "TOKENIZERS_", "HF_", "TRANSFORMERS_", "DATASETS_", "XLA_", "TF_", "JAX_", "ACCELERATE_", "DEEPSPEED_", "WANDB_MODE",
    "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX", "TMPDIR", "LANG", "LC_ALL", "DISPLAY", "MALLOC_",
)  # fmt: skip
"""Beginnings of the names of environment variables that decide how such jobs behave."""

SECRET_WORDS = ("TOKEN", "KEY", "SECRET", "PASS", "CREDENTIAL", "AUTH")
"""A variable or an option with one of these in its name is written without its value."""

TEXT_LIMIT = 500
LINE_LIMIT = 40_000
FORK_LIMIT = 400
HIGH_DESCRIPTOR = 700
"""kb's two files live up here, so that the job's own descriptors get the numbers they would have had."""


def quoted(text: object) -> str:
    """A JSON string in pure ASCII, whatever the text and the locale."""
    return _encode(str(text)[:TEXT_LIMIT])


def _plain_encode(text: str) -> str:
    units = text.encode("utf-16-be", "surrogatepass")
    pairs = zip(units[::2], units[1::2])
    return (
        '"'
        + "".join(chr(low) if not high and 31 < low < 127 and low not in (34, 92) else "\\u%02x%02x" % (high, low) for high, low in pairs)
        + '"'
    )


try:
    from _json import encode_basestring_ascii as _encode  # the C function alone: the json package would cost milliseconds
except ImportError:
    _encode = _plain_encode


class Record:
    """The open record of this process."""

    def __init__(self, folder: str):
        self.folder = folder
        self.began = time.monotonic()
        self.lines = 0
        self.forks = 0
        self.stacks: dict[int, list[str]] = {}
        self.last_exception: dict[int, int] = {}
        self.missing: set[str] = set()
        self.main = get_ident()
        self.descriptor = self._open("record", "jsonl", HIGH_DESCRIPTOR)
        self.identity = self._identity()

    def _open(self, kind: str, ending: str, number: int) -> int:
        """Open this process's file and move it up to `number`, unless the job has that one already."""
        path = os.path.join(self.folder, "%s-%d.%s" % (kind, os.getpid(), ending))
        low = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.fstat(number)
        except OSError:
            try:
                os.dup2(low, number, inheritable=False)
            except OSError:  # more descriptors than this process may have
                return low
            os.close(low)
            return number
        return low

    def _identity(self) -> tuple[int, int]:
        state = os.fstat(self.descriptor)
        return state.st_dev, state.st_ino

    def write(self, line: str, *, always: bool = False) -> None:
        """Append one line. A descriptor that the job has closed and reused is never written to."""
        self.lines += 1
        if self.descriptor < 0 or (self.lines > LINE_LIMIT and not always):
            return
        try:
            if self._identity() == self.identity:
                os.write(self.descriptor, line.encode("ascii", "replace"))
                return
        except OSError:
            pass
        self.descriptor = -1

    def seconds(self) -> float:
        return time.monotonic() - self.began

    def start(self, *, forked: bool) -> None:
        """The first line: who this process is."""
        environment = ",".join("%s:%s" % (quoted(name), quoted(value)) for name, value in _chosen_variables())
        arguments = _without_secrets(list(getattr(sys, "orig_argv", None) or [sys.executable or "", *getattr(sys, "argv", [])]))
        self.write(
            '{"e":"start","format":%d,"pid":%d,"ppid":%d,"time":%.3f,"forked":%s,"python":%s,"executable":%s,"prefix":%s,"argv":[%s],"cwd":%s,"variables":{%s}}\n'
            % (
                FORMAT, os.getpid(), os.getppid(), time.time(), "true" if forked else "false", quoted(sys.version.split()[0]), quoted(sys.executable),
                quoted(sys.prefix), ",".join(quoted(word) for word in arguments), quoted(_directory()), environment,
            )
        )  # fmt: skip

    def import_begins(self, name: str) -> None:
        thread = get_ident()
        stack = self.stacks.setdefault(thread, [])
        stack.append(name)
        self.write('{"e":"i","m":%s,"d":%d,"t":%.3f%s}\n' % (quoted(name), len(stack), self.seconds(), self._thread(thread)))

    def import_ends(self, name: str, error: BaseException | None) -> None:
        thread = get_ident()
        stack = self.stacks.get(thread) or [name]
        stack.pop()
        if error is not None:
            self._failed(name, error, thread)
        elif "." not in name:
            self._version(name)
        self.write('{"e":"o","d":%d,"t":%.3f%s}\n' % (len(stack) + 1, self.seconds(), self._thread(thread)))
        if not stack:
            self.stacks.pop(thread, None)
            self.last_exception.pop(thread, None)

    def _thread(self, thread: int) -> str:
        return "" if thread == self.main else ',"th":%d' % thread

    def _version(self, name: str) -> None:
        version = getattr(sys.modules.get(name), "__dict__", {}).get("__version__")
        if isinstance(version, str):
            self.write('{"e":"v","m":%s,"version":%s}\n' % (quoted(name), quoted(version)))

    def _failed(self, name: str, error: BaseException, thread: int) -> None:
        """An exception leaves the import of `name`; seen first in the innermost module, then in each one it passes."""
        known = self.last_exception.get(thread) == id(error)
        self.last_exception[thread] = id(error)
        if isinstance(error, ModuleNotFoundError):
            if name not in self.missing:
                self.missing.add(name)
                self.write('{"e":"m","m":%s,"missing":%s}\n' % (quoted(name), quoted(error.name)))
        elif known:
            self.write('{"e":"p","m":%s,"by":%s%s}\n' % (quoted(name), quoted(_importer()), self._thread(thread)), always=True)
        else:
            self._write_exception(name, error, thread)

    def _write_exception(self, name: str, error: BaseException, thread: int) -> None:
        where, variable = _origin(error)
        fields = {"type": type(error).__name__, "text": _text(error), "by": _importer(), "at": where}
        if variable:
            fields["variable"] = variable
        if isinstance(error, OSError) and error.filename is not None:
            fields["file"] = _text(error.filename)
        told = ",".join("%s:%s" % (quoted(key), quoted(value)) for key, value in fields.items())
        self.write('{"e":"x","m":%s,"t":%.3f,%s%s}\n' % (quoted(name), self.seconds(), told, self._thread(thread)), always=True)

    def after_fork_in_parent(self) -> None:
        self.forks += 1

    def after_fork_in_child(self) -> None:
        """A forked process gets its own record and its own file for stacks, on the same descriptors."""
        try:
            for descriptor in (self.descriptor, _stacks_descriptor[0]):
                if descriptor >= 0 and self._still_ours(descriptor):
                    os.close(descriptor)
            self.main = get_ident()
            self.began = time.monotonic()
            self.lines = 0
            if self.forks > FORK_LIMIT:
                self.descriptor = -1
                return
            self.descriptor = self._open("record", "jsonl", HIGH_DESCRIPTOR)
            self.identity = self._identity()
            self.start(forked=True)
            announce_stacks(self)
        except Exception:
            self.descriptor = -1

    def _still_ours(self, descriptor: int) -> bool:
        try:
            return os.readlink("/proc/self/fd/%d" % descriptor).startswith(os.path.realpath(self.folder))
        except OSError:
            return False


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception:
        return "(can not be shown)"


def _directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return "(gone)"


def _secret(name: str) -> bool:
    upper = name.upper()
    return any(word in upper for word in SECRET_WORDS)


def _chosen_variables() -> list[tuple[str, str]]:
    return [(name, value) for name, value in os.environ.items() if name.startswith(VARIABLES) and not _secret(name)]


def _without_secrets(arguments: list[str]) -> list[str]:
    """The command line with the values of options like --api-key left out."""
    shown: list[str] = []
    hide = False
    for word in arguments:
        option, equals, _ = word.partition("=")
        if hide and not word.startswith("-"):
            shown.append("***")
        elif word.startswith("-") and equals and _secret(option):
            shown.append(option + "=***")
        else:
            shown.append(word)
        hide = word.startswith("-") and not equals and _secret(word)
    return shown


def _importer() -> str:
    """Who asked for the import: the nearest frame that is neither kb's nor the import system's."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name != __file__ and not name.startswith("<frozen importlib") and not name.endswith("importlib/__init__.py"):
            return "%s:%d" % (name, frame.f_lineno)
        frame = frame.f_back
    return ""


def _origin(error: BaseException) -> tuple[str, str]:
    """Where it was raised, and the environment variable it missed."""
    place = trace = error.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith("<frozen"):
            place = trace
        last, trace = trace, trace.tb_next
    if place is None:
        return "", ""
    code = last.tb_frame.f_code
    environ = (
        isinstance(error, KeyError)
        and error.args
        and "_Environ" in getattr(code, "co_qualname", "_Environ")
        and code.co_name == "__getitem__"
    )
    variable = error.args[0] if environ and isinstance(error.args[0], str) and last.tb_frame.f_globals.get("__name__") == "os" else ""
    if variable and place is last:
        place = _before(error, last) or place
    return "%s:%d in %s" % (place.tb_frame.f_code.co_filename, place.tb_lineno, place.tb_frame.f_code.co_name), variable


def _before(error, last):
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not last:
        trace = trace.tb_next
    return trace


def _watch_imports(record: Record) -> None:
    """Let the import system's own lock for modules tell when imports begin and end."""
    import _frozen_importlib

    original = _frozen_importlib._ModuleLockManager

    class _ModuleLockManager(original):
        def __enter__(self):
            name = self._name
            self._kb = name not in sys.modules and name not in record.missing
            if self._kb:
                record.import_begins(name)
            return super().__enter__()

        def __exit__(self, kind, error, trace):
            if self._kb:
                try:
                    record.import_ends(self._name, error)
                except Exception:
                    pass
            return super().__exit__(kind, error, trace)

    _frozen_importlib._ModuleLockManager = _ModuleLockManager


_stacks_descriptor = [-1]


def announce_stacks(record: Record) -> None:
    """Let one unused signal print the stacks of all threads into kb's file, and fatal errors too; tell kb which signal."""
    import _signal
    import faulthandler

    descriptor = record._open("stacks", "txt", HIGH_DESCRIPTOR + 1)
    _stacks_descriptor[0] = descriptor
    if not faulthandler.is_enabled() or _enabled_by_kb[0]:
        faulthandler.enable(file=descriptor, all_threads=True)
        _enabled_by_kb[0] = True
    number = _registered[0] or _unused_signal(_signal)
    if number:
        faulthandler.register(number, file=descriptor, all_threads=True, chain=False)
        _registered[0] = number
        record.write('{"e":"stacks","signal":%d,"descriptor":%d}\n' % (number, descriptor))


_enabled_by_kb = [False]
_registered = [0]


def _unused_signal(signals) -> int:
    """A real-time signal with its default action: schedulers and trainers use SIGUSR1 and SIGUSR2, nobody these."""
    for number in range(signals.SIGRTMAX - 4, signals.SIGRTMIN + 4, -1):
        if signals.getsignal(number) == signals.SIG_DFL:
            return number
    return 0


def begin(folder: str) -> None:
    """Start the record of this process in `folder`."""
    record = Record(folder)
    record.start(forked=False)
    announce_stacks(record)
    _watch_imports(record)
    os.register_at_fork(after_in_child=record.after_fork_in_child, after_in_parent=record.after_fork_in_parent)
