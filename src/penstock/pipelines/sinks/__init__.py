"""Where a pipeline's rows go: topics exactly once, tables by upsert, files with commits."""
