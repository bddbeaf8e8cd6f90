import importlib, os, sys, tempfile
folder = tempfile.mkdtemp()
sys.path.insert(0, folder)
for number in range(20):
    with open(os.path.join(folder, f"part{number}.py"), "w") as file:
        file.write("import time\nend = time.process_time() + 0.1\nlimit = time.time() + 0.35\nwhile time.process_time() < end: sum(range(1000))\ntime.sleep(max(0, limit - time.time()))\n")
for number in range(20):
    importlib.import_module(f"part{number}")
