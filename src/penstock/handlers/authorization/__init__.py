"""What a client has to be allowed before an API answers it, API by API, as Kafka checks it.

Only a node with an authorizer loads any of this: there the router puts a guard before the handler.
"""
