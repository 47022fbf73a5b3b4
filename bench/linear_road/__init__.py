"""The Linear Road benchmark: input, rules, driver and views.

Arasu et al., Linear Road: A Stream Data Management Benchmark, VLDB 2004.
"""
