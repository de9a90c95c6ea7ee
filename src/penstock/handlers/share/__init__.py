"""The leader's side of share groups: sessions, records handed out, acknowledgements taken.

Only a node that is asked for a share group loads any of this.
"""
