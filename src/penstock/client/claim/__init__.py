"""Large values by claim check: in a store, with a reference in the record."""
