import multiprocessing

def worker(barrier):
    barrier.wait()

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(3)
    workers = [context.Process(target=worker, args=(barrier,)) for _ in range(2)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
