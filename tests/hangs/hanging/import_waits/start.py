print("starting job…", flush=True)
import studio
