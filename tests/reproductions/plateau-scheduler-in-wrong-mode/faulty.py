"""A loss is watched as if larger were better: the learning rate falls although the loss does."""
import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau

optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
scheduler = ReduceLROnPlateau(optimizer, mode="max", patience=0)
for epoch, validation_loss in enumerate((0.9, 0.7, 0.5, 0.3)):
    optimizer.step()
    scheduler.step(validation_loss)
    print(f"epoch {epoch} val_loss {validation_loss} lr {optimizer.param_groups[0]['lr']:.6f}")
