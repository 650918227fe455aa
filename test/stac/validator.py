"""stac-api-validator with schemas from a folder. Arguments are its own."""

import loopback  # noqa: F401  First of all: it stands in for the schemas' hosts.

from stac_api_validator.__main__ import main

if __name__ == "__main__":
    main()
