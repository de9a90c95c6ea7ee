"""`penstock drill lag`: an incident as an exercise, with real clients."""
