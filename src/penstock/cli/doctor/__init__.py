"""`penstock doctor`: what is out of its limits, why, what to do first and what not to do."""
