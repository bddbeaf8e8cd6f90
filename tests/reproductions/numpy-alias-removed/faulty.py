"""Code written for NumPy before 1.24 names a type that is gone."""
import numpy as np

print(np.zeros(3, dtype=np.float))
