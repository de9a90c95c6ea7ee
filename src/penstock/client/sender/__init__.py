"""Sending with a policy: `Sender`, and what it does while writes are refused."""
