"""The library is there: the module loads."""
import ctypes

print(ctypes.CDLL("./fastops.so").call())
