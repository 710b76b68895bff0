"""Measuring what recall finds and what enters the context: data sets, runs, scores, fits, reports.

Nothing here is on the prompt path. Metrics, intervals, fits and figures come from the packages of
the `eval` extra, imported where they are used.
"""
