import math, time

def forward(batch): return [math.tanh(value) for value in batch]
def backward(values): return [1 - value * value for value in values]
def update(weights, gradients): return [w - 0.1 * g for w, g in zip(weights, gradients)]

weights, end = [0.5] * 40_000, time.time() + 7
while time.time() < end:
    weights = update(weights, backward(forward(weights)))
