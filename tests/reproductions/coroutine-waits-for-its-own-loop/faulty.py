"""A coroutine hands work to the event loop it runs on and blocks for the answer, so that the loop never comes to it."""

import asyncio
import faulthandler

faulthandler.dump_traceback_later(4, exit=True)


async def infer(x: float) -> float:
    return 2 * x


async def handle() -> float:
    loop = asyncio.get_running_loop()
    return asyncio.run_coroutine_threadsafe(infer(0.5), loop).result()


print(asyncio.run(handle()))
