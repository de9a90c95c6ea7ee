"""TLS as the settings ask for it: keys and certificates, contexts of them, and their changes."""
