"""Loggers that exist stay on."""
import logging.config

log = logging.getLogger("trainer")
logging.config.dictConfig({"version": 1, "disable_existing_loggers": False, "handlers": {"out": {"class": "logging.StreamHandler"}}, "root": {"handlers": ["out"], "level": "INFO"}})
log.error("validation failed")
logging.info("done")
