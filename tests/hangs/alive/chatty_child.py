import subprocess
subprocess.run(["sh", "-c", "for i in 1 2 3 4 5 6 7; do echo tick $i; sleep 1; done"], check=True)
