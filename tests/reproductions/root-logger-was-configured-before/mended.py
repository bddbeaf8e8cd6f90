"""force=True puts the earlier handlers away."""
import logging

logging.warning("what an imported library says: with this the root logger has a handler")
logging.basicConfig(level=logging.INFO, filename="train.log", force=True)
logging.info("epoch 1 loss 0.7")
print("train.log:", open("train.log").read())
