"""The fraud detector: one verdict for every payment, by rules that change while it runs."""
