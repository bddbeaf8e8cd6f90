"""The child's output goes into a pipe that nobody reads while the parent waits for its end."""

import faulthandler
import subprocess

faulthandler.dump_traceback_later(4, exit=True)
child = subprocess.Popen(["sh", "-c", "yes | head -c 200000"], stdout=subprocess.PIPE)
child.wait()
print(len(child.stdout.read()))
