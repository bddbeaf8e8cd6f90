"""The module lies in the folder in which the server starts."""
import pathlib
import uvicorn.importer

pathlib.Path("main.py").write_text("async def app(scope, receive, send): pass\n")
print(uvicorn.importer.import_from_string("main:app"))
