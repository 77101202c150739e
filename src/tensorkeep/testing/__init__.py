"""For those who write tests: file systems that fail, strategies for Hypothesis, suites to pass.

conformance/  what every implementation of a protocol has to do, as tests to inherit
filesystems   file systems for tests: one that dies, one that fails, one that counts
strategies    hypothesis strategies for what checkpoints hold
"""
