"""Deciding by experiment: consent, needs, the process that runs a check, its verdict, the environment it ran in, and the outcome's row.

May import matching, journal, knowledge and the modules below.
"""
