"""The composition root: puts one broker process together, runs it, and takes it apart again."""
