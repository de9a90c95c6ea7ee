"""Leaders and bytes spread evenly over brokers and racks."""
