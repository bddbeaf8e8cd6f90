"""A question is asked of nobody: standard input is open and silent, as under many job runners."""

import faulthandler

faulthandler.dump_traceback_later(4, exit=True)
answer = input("Output folder exists. Overwrite it? [y/N] ")
print("overwriting" if answer == "y" else "stopping")
