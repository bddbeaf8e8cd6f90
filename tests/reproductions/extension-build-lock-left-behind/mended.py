"""The same after the surroundings removed the lock."""

import faulthandler
import os
from pathlib import Path

from torch.utils.cpp_extension import load

Path("ops.cpp").write_text('extern "C" int one() { return 1; }\n')
faulthandler.dump_traceback_later(int(os.environ["LOOK_AFTER"]), exit=True)
print(load("ops", sources=["ops.cpp"], is_python_module=False))
