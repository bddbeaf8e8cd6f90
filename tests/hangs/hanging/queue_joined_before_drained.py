import multiprocessing

def produce(queue):
    queue.put(b"x" * 10_000_000)

if __name__ == "__main__":
    queue = multiprocessing.get_context("fork").Queue()
    process = multiprocessing.get_context("fork").Process(target=produce, args=(queue,))
    process.start()
    process.join()
    queue.get()
