"""Worked examples: each file is a pipeline or a job, with a page in docs/examples and a test."""
