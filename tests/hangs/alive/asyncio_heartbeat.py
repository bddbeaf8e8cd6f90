import asyncio, tempfile

async def beat(file):
    for _ in range(12):
        file.write(b".")
        await asyncio.sleep(0.5)

with tempfile.TemporaryFile(buffering=0) as file:
    asyncio.run(beat(file))
