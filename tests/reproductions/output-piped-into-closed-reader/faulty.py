"""The output goes through `head`, which leaves after one line."""
import pathlib
import subprocess

pathlib.Path("job.py").write_text("for step in range(10000): print('step', step)\n")
pathlib.Path("job.sh").write_text("python job.py | head -n 1\n")
subprocess.run(["sh", "job.sh"])
