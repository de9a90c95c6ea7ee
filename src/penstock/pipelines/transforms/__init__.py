"""Pure transforms, DataFrame in and DataFrame out: decoding, dead letters, late rows."""
