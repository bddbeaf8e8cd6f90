"""The same request to a server that listens on every address."""
import os
import urllib.request

print(urllib.request.urlopen(f"http://127.0.0.2:{os.environ['PORT']}/").status)
