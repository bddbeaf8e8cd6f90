"""Both packages use one copy."""
import ctypes
import os
import shutil
import sys

os.makedirs("packages/first")
shutil.copy(os.path.join(sys.prefix, "lib", "libiomp5.so"), "packages/first")
for package in ("first", "second"):
    print(package, ctypes.CDLL("./packages/first/libiomp5.so").omp_get_max_threads(), flush=True)
