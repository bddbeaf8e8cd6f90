"""A module wants a variable that is not set; its error is swallowed in a thread, and the import waits for that thread's signal."""

import faulthandler

faulthandler.dump_traceback_later(4, exit=True)

import tuner_backend

print("starting job on", tuner_backend.address)
