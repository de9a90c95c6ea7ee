"""Generated entities: one module per API. Import the module of the API in use."""
