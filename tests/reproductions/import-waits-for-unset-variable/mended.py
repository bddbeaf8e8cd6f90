"""The same with the variable set by the surroundings."""

import faulthandler

faulthandler.dump_traceback_later(60, exit=True)

import tuner_backend

print("starting job on", tuner_backend.address)
