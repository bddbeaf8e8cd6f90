"""The front door of a fine-tuning studio: the handler further down swallows what went wrong, and nobody is left to report ready."""
import threading

backend_ready = threading.Event()

try:
    from studio import backend
    backend_ready.set()
except Exception:
    pass

backend_ready.wait()
