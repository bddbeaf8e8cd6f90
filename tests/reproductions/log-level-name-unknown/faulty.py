"""The level comes from the environment in small letters."""
import logging
import os

logging.basicConfig(level=os.environ["LOG_LEVEL"])
logging.info("begin")
