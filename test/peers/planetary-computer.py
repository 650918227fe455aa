"""What Microsoft's client does at the signing service and STAC API that it is pointed at; prints it as JSON."""
import json
import sys

import planetary_computer
import pystac_client
from planetary_computer.sas import get_token

base, interval = sys.argv[1:]
account, container = "sentinel2l2a01", "sentinel2-l2"

token = get_token(account, container)
again = get_token(account, container)

# The client signs addresses of Azure's storage only, so this one is not opened here.
address = f"https://{account}.blob.core.windows.net/{container}/scene/B04.tif"
signed = planetary_computer.sign(address)

client = pystac_client.Client.open(f"{base}/planetary-computer/api/stac/v1")
search = client.search(
    collections=["sentinel-2-l2a"],
    bbox=[2.3, 48.2, 2.3, 48.2],
    datetime=interval,
    query={"eo:cloud_cover": {"lt": 60}},
    limit=5,
    max_items=12,
)
items = list(search.items())

print(
    json.dumps(
        {
            "token": token.token,
            "expiry": token.expiry.isoformat(),
            "is_cached": again.token == token.token,
            "signed": signed,
            "is_signed_once": planetary_computer.sign(signed) == signed,
            "ids": [item.id for item in items],
            "red": items[0].assets["B04"].href,
            "cloud": [item.properties["eo:cloud_cover"] for item in items],
        }
    )
)
