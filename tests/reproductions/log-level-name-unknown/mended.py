"""The level is given in capitals."""
import logging
import os

logging.basicConfig(level=os.environ["LOG_LEVEL"])
logging.info("begin")
