"""The files beside a segment that lead to its batches: hints, made anew where they are wrong."""
