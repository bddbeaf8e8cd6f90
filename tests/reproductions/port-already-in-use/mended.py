"""Nobody holds the port any more; the server starts, and stops by itself."""
import os
import threading
import uvicorn


async def app(scope, receive, send):
    pass


server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=int(os.environ["PORT"]), lifespan="off"))
threading.Timer(0.5, lambda: setattr(server, "should_exit", True)).start()
server.run()
