"""What is done with requests besides answering: counted, limited, logged, sent elsewhere.

canaries     a share of the requests that name no version goes to one of them
differences  how far two answers to one request are apart
handling     all of it together, as those who answer requests see it
limits       how many requests of a model run and wait at a time, and for how long
log_files    record files that a thread of its own writes, one after the other
metrics      what is counted of requests, runs and models: the original's names, and ours
registry     counters, gauges and histograms of all workers as a page for Prometheus
replay       requests that were logged, read again: to be sent, or to warm a model up
request_log  which requests are logged, and what is written of them
shadows      a copy of some requests goes to another version, and its answers are compared
"""
