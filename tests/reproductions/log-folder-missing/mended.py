"""The folder is made first."""
import logging
import os

os.makedirs("logs", exist_ok=True)
logging.basicConfig(filename="logs/train.log", level=logging.INFO)
logging.info("begin")
