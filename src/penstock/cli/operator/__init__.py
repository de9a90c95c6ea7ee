"""What an operator of a cluster does: look, move, drain, roll. All of it over the protocol."""
