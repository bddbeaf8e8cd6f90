"""The message has a place for the value."""
import logging

logging.basicConfig(level=logging.INFO)
for step, loss in enumerate((0.7, 0.5)):
    logging.info("loss %.4f", loss)
