"""A helper asks a service for its configuration before training starts; the service takes the connection and never answers."""

import faulthandler
import os
import urllib.request

faulthandler.dump_traceback_later(4, exit=True)
url = os.environ["CONFIG_URL"]
with urllib.request.urlopen(url) as answer:
    print(answer.read())
