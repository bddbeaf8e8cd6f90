"""The schedule is moved before the first update."""
import torch

optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
for epoch in range(2):
    scheduler.step()
    optimizer.step()
    print(epoch, scheduler.get_last_lr())
