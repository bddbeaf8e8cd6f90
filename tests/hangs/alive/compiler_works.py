import subprocess
subprocess.run(["sh", "-c", "end=$(($(date +%s) + 7)); while [ $(date +%s) -lt $end ]; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; done"], check=True)
