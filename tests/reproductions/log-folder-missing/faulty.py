"""A log file is opened in a folder that nobody made."""
import logging

logging.basicConfig(filename="logs/train.log", level=logging.INFO)
logging.info("begin")
