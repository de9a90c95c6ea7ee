"""Every setting declared once: Kafka's name, type, default, check, and how it may change.

Files, the command line, DescribeConfigs and the documentation all render from the tables in
`table`. Nothing here acts on a setting.
"""
