"""Who did what: read off requests and their answers, summed up, and made into lines. Pure."""
