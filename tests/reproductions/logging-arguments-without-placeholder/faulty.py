"""A value is passed to a log call as to print(), without a place for it in the message."""
import logging

logging.basicConfig(level=logging.INFO)
for step, loss in enumerate((0.7, 0.5)):
    logging.info("loss", loss)
