"""The output goes to a file; the file is looked at."""
import pathlib
import subprocess

pathlib.Path("job.py").write_text("for step in range(10000): print('step', step)\n")
pathlib.Path("job.sh").write_text("python job.py > job.log && sed -n 1p job.log\n")
subprocess.run(["sh", "job.sh"])
