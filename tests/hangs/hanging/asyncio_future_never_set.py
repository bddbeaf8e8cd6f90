import asyncio

async def serve_request():
    await asyncio.get_running_loop().create_future()

asyncio.run(serve_request())
