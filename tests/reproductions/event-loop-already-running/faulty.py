"""asyncio.run() is called where a loop runs already, as in a notebook or an async route."""
import asyncio


async def predict():
    return 1


async def route():
    return asyncio.run(predict())


print(asyncio.run(route()))
