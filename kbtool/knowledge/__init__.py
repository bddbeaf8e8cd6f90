"""Entries and domain pages: reading, checking, changing by splice, layers, redaction. The only place that writes into a base.

May import model, errors, durable and settings only.
"""
