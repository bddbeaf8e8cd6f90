"""The same; communicate reads while it waits."""

import faulthandler
import subprocess

faulthandler.dump_traceback_later(60, exit=True)
child = subprocess.Popen(["sh", "-c", "yes | head -c 200000"], stdout=subprocess.PIPE)
output, _ = child.communicate()
print(len(output))
