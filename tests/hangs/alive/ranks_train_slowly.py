import os, tempfile, time
import torch, torch.distributed as dist
import torch.multiprocessing as mp

def train(rank, file):
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    for step in range(3):
        time.sleep(2 if rank else 0.1)
        dist.all_reduce(torch.ones(1))
        if rank == 0:
            print("step", step, flush=True)

if __name__ == "__main__":
    mp.start_processes(train, args=(os.path.join(tempfile.mkdtemp(), "store"),), nprocs=2, start_method="fork")
