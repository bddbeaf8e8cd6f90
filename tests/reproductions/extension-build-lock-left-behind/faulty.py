"""A C++ operator is built at first use; the lock of a build that was killed still lies in its folder."""

import faulthandler
import os
from pathlib import Path

from torch.utils.cpp_extension import load

Path("ops.cpp").write_text('extern "C" int one() { return 1; }\n')
faulthandler.dump_traceback_later(int(os.environ["LOOK_AFTER"]), exit=True)
print(load("ops", sources=["ops.cpp"], is_python_module=False))
