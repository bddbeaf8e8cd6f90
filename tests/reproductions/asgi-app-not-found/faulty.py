"""The server is started in a folder that does not hold the app's module."""
import os
import pathlib

pathlib.Path("service").mkdir(exist_ok=True)
pathlib.Path("service/main.py").write_text("async def app(scope, receive, send): pass\n")
os.execvp("python", ["python", "-m", "uvicorn", "main:app", "--port", "18474"])
