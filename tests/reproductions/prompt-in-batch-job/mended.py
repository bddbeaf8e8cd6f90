"""The same decision comes from the command line or a variable, with a safe default."""

import faulthandler
import os

faulthandler.dump_traceback_later(60, exit=True)
answer = os.environ.get("OVERWRITE", "n")
print("overwriting" if answer == "y" else "stopping")
