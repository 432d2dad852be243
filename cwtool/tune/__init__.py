"""Choosing parameters by trials."""
