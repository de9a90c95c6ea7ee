"""Share groups: members that all read the same partitions, and the records of both (KIP-932)."""
