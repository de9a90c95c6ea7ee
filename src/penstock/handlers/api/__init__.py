"""One module per API: translate the request, ask the layer that knows, map errors to fields.

Modules here never import each other.
"""
