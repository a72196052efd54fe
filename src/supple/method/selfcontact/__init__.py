"""Contacts of a rigged body with itself by rules [TOK14]."""
