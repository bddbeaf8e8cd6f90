"""Python's own type has always meant the same."""
import numpy as np

print(np.zeros(3, dtype=float))
