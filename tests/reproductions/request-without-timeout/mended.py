"""The same with a limit, and an answer for the case that nobody is there."""

import faulthandler
import os
import urllib.request

faulthandler.dump_traceback_later(60, exit=True)
url = os.environ["CONFIG_URL"]
try:
    with urllib.request.urlopen(url, timeout=1) as answer:
        print(answer.read())
except OSError as error:
    print("using the defaults:", error)
