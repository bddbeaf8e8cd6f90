"""From a text to the entries that explain it: stream, report (the first real failure), tokens, candidates, score, confidence.

May import journal, knowledge and the modules below. The hot path: importing it pulls in no yaml, rich or numpy.
"""
