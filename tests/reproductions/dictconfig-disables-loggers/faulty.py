"""A logging configuration switches off every logger that was made before it."""
import logging.config

log = logging.getLogger("trainer")  # made when the trainer's module was imported
logging.config.dictConfig({"version": 1, "handlers": {"out": {"class": "logging.StreamHandler"}}, "root": {"handlers": ["out"], "level": "INFO"}})
log.error("validation failed")
logging.info("done")
