"""The same; the coroutine awaits, and the loop goes on."""

import asyncio
import faulthandler

faulthandler.dump_traceback_later(60, exit=True)


async def infer(x: float) -> float:
    return 2 * x


async def handle() -> float:
    return await infer(0.5)


print(asyncio.run(handle()))
