"""The questions an environment is asked, run by the *user's* python: standard library only, no import of kbtool or torch.

Started as ``python -c <this text> LIMIT PROBE,PROBE… module:NAME,command:NAME…`` and prints one JSON object. Every probe runs in a thread of its own with a time
limit, so that a hung network file system or driver costs one answer and not all: an unknown value is null and has a word in `unknown`.
Works on Python 3.9 and newer, because the environment that is asked is the user's.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import time
from typing import Any

PROBES: dict[str, Any] = {}

CROWDED_SECONDS = 6.0
"""Seconds beyond the limit that probes may take while they compute, on a machine that has little time for them."""

PACKAGES = (
    "torch torchvision torchaudio triton numpy transformers datasets accelerate peft trl tokenizers safetensors bitsandbytes flash-attn xformers "
    "deepspeed vllm sglang lightning pytorch-lightning ray jax tensorflow torch-npu onnxruntime onnxruntime-gpu nvidia-nccl-cu12 nvidia-nccl-cu13 nvidia-cudnn-cu12 nvidia-cudnn-cu13"
).split()

VARIABLES = re.compile(
    r"^(CUDA|NCCL|PYTORCH|TORCH|HF|TRANSFORMERS|OMP|MKL|OPENBLAS|NVIDIA|GLOO|ROCR|HIP|HSA|ASCEND|XLA|TRITON|TOKENIZERS|SLURM|LC)_"
    r"|^(RANK|LOCAL_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE|MASTER_ADDR|MASTER_PORT|LANG|PYTHON[A-Z]*|CONDA_DEFAULT_ENV|CONDA_PREFIX|VIRTUAL_ENV"
    r"|LD_LIBRARY_PATH|LD_PRELOAD|TMPDIR|MALLOC_[A-Z_]*)$"
)
SECRET = re.compile(r"TOKEN|SECRET|PASS|KEY|CRED|AUTH|COOKIE", re.IGNORECASE)
SECRET_BUT_HARMLESS = re.compile(r"^TOKENIZERS_")


def probe(function: Any) -> Any:
    """Register a probe under its own name."""
    PROBES[function.__name__] = function
    return function


def read(path: str) -> str:
    """A small file's text."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().strip()


def try_read(path: str) -> str | None:
    """A small file's text, None where it can not be read."""
    try:
        return read(path)
    except OSError:
        return None


def command(*words: str, limit: float = 3.0) -> str | None:
    """What a command prints; None where it is missing or fails. Raises TimeoutExpired."""
    if shutil.which(words[0]) is None:
        return None
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=limit)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


@probe
def system() -> dict[str, str]:
    """The operating system, in the words that `needs` uses."""
    release = try_read("/etc/os-release") or ""
    name = re.search(r'^PRETTY_NAME="?([^"\n]*)', release, re.MULTILINE)
    return {
        "os": {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}.get(platform.system(), platform.system().lower()),
        "name": name.group(1) if name else platform.platform(terse=True),
        "kernel": platform.release(),
        "machine": platform.machine(),
    }


@probe
def container() -> str:
    """The kind of container, or none."""
    if os.path.exists("/.dockerenv"):
        return "docker"
    if os.path.exists("/run/.containerenv"):
        return "podman"
    for variable, kind in (("KUBERNETES_SERVICE_HOST", "kubernetes"), ("SINGULARITY_CONTAINER", "singularity"), ("APPTAINER_CONTAINER", "apptainer")):
        if os.environ.get(variable):
            return kind
    groups = try_read("/proc/1/cgroup") or ""
    found = re.search(r"docker|kubepods|containerd|lxc|podman", groups)
    return found.group() if found else "none"


def cgroup_file(*names: str) -> str | None:
    """The first of the files (v2 name, v1 names) that the process's own control group or the root of the tree has."""
    own = [line.split(":", 2)[2] for line in (try_read("/proc/self/cgroup") or "").splitlines() if line.count(":") >= 2]
    for name in names:
        for folder in [*own, "/"]:
            text = try_read(os.path.normpath("/sys/fs/cgroup/" + name.replace("*", folder.strip("/"))))
            if text is not None:
                return text
    return None


@probe
def cpu() -> dict[str, Any]:
    """Cores, those this process may use, and the share its control group grants."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    limit = None
    both = (cgroup_file("*/cpu.max") or "").split()
    if len(both) == 2 and both[0] != "max":
        limit = int(both[0]) / int(both[1])
    else:
        quota, period = cgroup_file("cpu/*/cpu.cfs_quota_us"), cgroup_file("cpu/*/cpu.cfs_period_us")
        if quota and period and int(quota) > 0:
            limit = int(quota) / int(period)
    return {"cores": os.cpu_count(), "usable": usable, "cgroup_limit": limit}


@probe
def memory() -> dict[str, Any]:
    """Bytes."""
    found = re.findall(r"^(MemTotal|MemAvailable|SwapTotal):\s+(\d+) kB", try_read("/proc/meminfo") or "", re.MULTILINE)
    values = {name: int(kib) * 1024 for name, kib in found}
    if not values and hasattr(os, "sysconf"):
        values = {"MemTotal": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")}
    limit = cgroup_file("*/memory.max", "memory/*/memory.limit_in_bytes")
    bound = int(limit) if limit and limit.isdigit() and int(limit) < 1 << 60 else None
    return {"total": values.get("MemTotal"), "available": values.get("MemAvailable"), "swap": values.get("SwapTotal"), "cgroup_limit": bound}


def disk(path: str) -> dict[str, Any]:
    """Bytes of the file system that holds `path`, and whether it can be written."""
    usage = shutil.disk_usage(path)
    return {"path": path, "total": usage.total, "free": usage.free, "writable": os.access(path, os.W_OK)}


@probe
def shared_memory() -> dict[str, Any] | None:
    """What loader workers pass their batches through."""
    return disk("/dev/shm") if os.path.isdir("/dev/shm") else None


@probe
def temporary() -> dict[str, Any]:
    """Where temporary files go."""
    return disk(os.environ.get("TMPDIR") or "/tmp") if os.name == "posix" else disk(os.environ.get("TEMP", "C:\\"))


@probe
def cache() -> dict[str, Any]:
    """The disk that downloaded models and data sets land on."""
    path = os.environ.get("HF_HOME") or os.environ.get("TORCH_HOME") or os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    while not os.path.isdir(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return disk(path)


@probe
def limits() -> dict[str, list[int | None]]:
    """Soft and hard limits of a process; None is unlimited."""
    import resource

    names = {"open_files": "NOFILE", "processes": "NPROC", "locked_memory": "MEMLOCK", "stack": "STACK", "core": "CORE", "address_space": "AS"}
    found = {}
    for name, constant in names.items():
        number = getattr(resource, "RLIMIT_" + constant, None)
        if number is not None:
            found[name] = [None if value == resource.RLIM_INFINITY else value for value in resource.getrlimit(number)]
    return found


@probe
def python() -> dict[str, Any]:
    """The interpreter that answers here."""
    return {
        "executable": sys.executable,
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "prefix": sys.prefix,
        "virtual": sys.prefix != sys.base_prefix,
        "site": [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))],
        "encoding": sys.getfilesystemencoding(),
    }


@probe
def torch() -> dict[str, Any] | None:
    """What torch's own version file says; torch itself is not imported (that takes seconds, and may be what is broken)."""
    import importlib.util

    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.origin:
        return None
    folder = os.path.dirname(spec.origin)
    text = try_read(os.path.join(folder, "version.py")) or ""
    names = {"version": "__version__", "cuda": "cuda", "hip": "hip", "git": "git_version", "debug": "debug"}
    found = {key: re.search(rf"^{name}(?:\s*:[^=]*)?\s*=\s*(.+)$", text, re.MULTILINE) for key, name in names.items()}
    values = {key: None if match is None or match.group(1).strip() == "None" else match.group(1).strip(" '\"") for key, match in found.items()}
    values["path"] = folder
    libraries = os.listdir(os.path.join(folder, "lib")) if os.path.isdir(os.path.join(folder, "lib")) else []
    values["built_for_cuda"] = any("torch_cuda" in name or "c10_cuda" in name for name in libraries)
    return values


@probe
def packages() -> dict[str, str]:
    """Versions of the packages that training and serving depend on."""
    from importlib import metadata

    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@probe
def gpus() -> list[dict[str, Any]] | None:
    """NVIDIA's GPUs as their driver lists them; empty without a driver, null where it does not answer."""
    text = command("nvidia-smi", "--query-gpu=index,name,memory.total,memory.used,utilization.gpu,driver_version", "--format=csv,noheader,nounits")
    if text is None:
        return [] if shutil.which("nvidia-smi") is None else None
    rows = [[cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.count(",") >= 5]
    keys = ("index", "name", "memory_mib", "used_mib", "utilisation", "driver")
    return [dict(zip(keys, [int(cell) if cell.isdigit() else cell for cell in row])) for row in rows]  # noqa: B905 (new in 3.10)


@probe
def gpu_processes() -> list[dict[str, str]]:
    """Processes that hold memory of a GPU."""
    text = command("nvidia-smi", "--query-compute-apps=pid,process_name,used_memory", "--format=csv,noheader,nounits")
    rows = [[cell.strip() for cell in line.split(",")] for line in (text or "").splitlines() if line.count(",") >= 2]
    return [{"pid": row[0], "name": row[1], "memory_mib": row[2]} for row in rows]


@probe
def accelerators() -> dict[str, Any]:
    """Accelerators other than NVIDIA's, by the device files and tools that their drivers bring."""
    found: dict[str, Any] = {}
    if os.path.exists("/dev/kfd"):
        found["rocm"] = try_read("/opt/rocm/.info/version") or "present"
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        found["mps"] = platform.mac_ver()[0]
    npus = [name for name in os.listdir("/dev") if re.fullmatch(r"davinci\d+", name)] if os.path.isdir("/dev") else []
    if npus:
        found["npu"] = len(npus)
    return found


@probe
def cuda_driver() -> dict[str, Any] | None:
    """The driver's version and the newest CUDA that it can run, from its own header; null without a driver."""
    driver = re.search(r"Kernel Module\s+(?:for \S+\s+)?(\S+)", try_read("/proc/driver/nvidia/version") or "")
    header = re.search(r"CUDA Version:\s*([\d.]+)", command("nvidia-smi") or "")
    return {"driver": driver.group(1) if driver else None, "cuda": header.group(1) if header else None} if driver or header else None


@probe
def variables() -> dict[str, str]:
    """Variables that change how a training job behaves; secrets are masked here, before anything leaves this process."""
    found: dict[str, str] = {}
    for name, value in sorted(os.environ.items()):
        if VARIABLES.search(name):
            secret = SECRET.search(name) and not SECRET_BUT_HARMLESS.search(name)
            found[name] = "(set, not shown)" if secret else re.sub(r"://[^/@\s]+@", "://***@", value)[:500]
    return found


@probe
def deep() -> dict[str, Any]:
    """What only torch itself can tell; asked for with ``kb env --deep``."""
    import torch

    library: Any = torch

    cuda = library.cuda.is_available()
    return {
        "cuda_available": cuda,
        "devices": library.cuda.device_count() if cuda else 0,
        "cudnn": library.backends.cudnn.version() if cuda else None,
        "nccl": ".".join(map(str, library.cuda.nccl.version())) if cuda and library.distributed.is_nccl_available() else None,
        "architectures": library.cuda.get_arch_list() if cuda else [],
        "threads": library.get_num_threads(),
    }


def wanted(items: list[str]) -> dict[str, bool]:
    """Whether modules and commands that a check needs are there."""
    import importlib.util

    found = {}
    for item in items:
        kind, _, name = item.partition(":")
        found[item] = (importlib.util.find_spec(name) if kind == "module" else shutil.which(name)) is not None
    return found


def ask(names: list[str], limit: float) -> tuple[dict[str, Any], dict[str, str]]:
    """Run the probes side by side; `limit` seconds for each, and more only while they compute: a crowded machine is no hang."""
    values: dict[str, Any] = {}
    unknown: dict[str, str] = {}

    def one(name: str) -> None:
        try:
            values[name] = PROBES[name]()
        except BaseException as error:
            unknown[name] = f"{type(error).__name__}: {str(error)[:200]}"

    threads = {name: threading.Thread(target=one, args=(name,), daemon=True) for name in names}
    for thread in threads.values():
        thread.start()
    allowed = wait_for(list(threads.values()), limit)
    for name, thread in threads.items():
        if thread.is_alive():
            unknown[name] = f"no answer within {allowed:g} s"
    return {name: values.get(name) for name in names}, dict(unknown)


def wait_for(threads: list[threading.Thread], limit: float) -> float:
    """Wait for the threads, beyond `limit` only while this process does not just wait for somebody else; returns the seconds allowed."""
    allowed, used = 0.0, 0.0
    while allowed < limit or (allowed < limit + CROWDED_SECONDS and time.process_time() - used > limit / 400):
        used, allowed, end = time.process_time(), allowed + limit / 4, time.monotonic() + limit / 4
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
        if not any(thread.is_alive() for thread in threads):
            break
    return allowed


def main(arguments: list[str]) -> None:
    """Print the answers and leave at once."""
    limit = float(arguments[0])
    names = arguments[1].split(",") if len(arguments) > 1 and arguments[1] else [name for name in PROBES if name != "deep"]
    if len(arguments) > 2 and arguments[2]:
        PROBES["wanted"] = lambda: wanted(arguments[2].split(","))
        names = [*names, "wanted"]
    values, unknown = ask(names, limit)
    sys.stdout.write(json.dumps({"facts": values, "unknown": unknown}) + "\n")
    sys.stdout.flush()
    os._exit(0)  # a hung probe's thread or child must not keep the answer back


if __name__ == "__main__":
    main(sys.argv[1:])
