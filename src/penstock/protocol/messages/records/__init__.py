"""Generated entities of the records kept in logs and files, one module each."""
