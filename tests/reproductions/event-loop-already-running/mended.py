"""The coroutine is awaited."""
import asyncio


async def predict():
    return 1


async def route():
    return await predict()


print(asyncio.run(route()))
