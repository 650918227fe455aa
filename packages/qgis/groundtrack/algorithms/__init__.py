"""The processes of the service as Processing algorithms."""
