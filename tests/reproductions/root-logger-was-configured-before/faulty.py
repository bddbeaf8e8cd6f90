"""A library configures the root logger on import; basicConfig then does nothing."""
import logging

logging.warning("what an imported library says: with this the root logger has a handler")
logging.basicConfig(level=logging.INFO, filename="train.log")
logging.info("epoch 1 loss 0.7")
print("bytes in train.log:", open("train.log").read() if __import__("os").path.exists("train.log") else "no such file")
