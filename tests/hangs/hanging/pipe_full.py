import subprocess, sys

def run_tokenizer():
    process = subprocess.Popen([sys.executable, "-c", "print('x' * 1_000_000)"], stdout=subprocess.PIPE)
    process.wait()

run_tokenizer()
