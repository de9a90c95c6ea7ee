"""How far consumer groups are behind: for every group that this node coordinates, as metrics."""
