"""HTTP: URLs, JSON and binary bodies, pages for people."""
