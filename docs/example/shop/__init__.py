"""A small shop, to try codelode on."""
