"""An ASGI server starts while an earlier one still listens on its port."""
import os
import uvicorn


async def app(scope, receive, send):
    pass


uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]), lifespan="off")
