"""Two packages bring a copy of Intel's OpenMP runtime each, and one process loads both."""
import ctypes
import os
import shutil
import sys

for package in ("first", "second"):
    os.makedirs(f"packages/{package}")
    shutil.copy(os.path.join(sys.prefix, "lib", "libiomp5.so"), f"packages/{package}")
    print(package, ctypes.CDLL(f"./packages/{package}/libiomp5.so").omp_get_max_threads(), flush=True)
