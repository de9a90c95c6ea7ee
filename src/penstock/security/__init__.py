"""Who somebody is and what they may do: pure machines that decide, without sockets or files."""
