"""The same; communicate reads while it waits."""

import faulthandler
import subprocess
import sys

faulthandler.dump_traceback_later(60, exit=True)
child = subprocess.Popen([sys.executable, "-c", "print('x' * 200_000)"], stdout=subprocess.PIPE)
output, _ = child.communicate()
print(len(output))
