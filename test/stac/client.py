"""pystac-client against the facade: walks, searches, pages and filters; every item is held against its schemas.

    STAC_SCHEMAS=folder python client.py http://127.0.0.1:8080/stac svc_…
"""

import functools
import io
import sys

import loopback  # noqa: F401  First of all: it stands in for the schemas' hosts.

import jsonschema
import pystac
import referencing
import referencing.jsonschema
import requests
from pystac_client import Client

url, key = sys.argv[1:3]
client = Client.open(url, headers={"Authorization": f"Bearer {key}"})


def expect(what, condition):
    if not condition:
        sys.exit(f"client.py: {what}")


def schema_at(uri):
    response = requests.get(uri)
    response.raise_for_status()
    return referencing.Resource.from_contents(response.json(), default_specification=referencing.jsonschema.DRAFT7)


registry = referencing.Registry(retrieve=functools.cache(schema_at))


@functools.cache
def validator_of(uri):
    return jsonschema.Draft7Validator(registry.get_or_retrieve(uri).value.contents, registry=registry)


def validate(item):
    """As it was emitted: the client's own objects are newer than what they were read from."""
    for uri in ["https://schemas.stacspec.org/v1.0.0/item-spec/json-schema/item.json", *item["stac_extensions"]]:
        for error in validator_of(uri).iter_errors(item):
            sys.exit(f"client.py: {item['id']} breaks {uri}: {error.json_path} {error.message[:300]}")


collections = list(client.get_collections())
expect("there are collections", collections)
walked = {}
for collection in collections:
    collection.validate()
    for item in collection.get_items():
        expect(f"{item.id} comes once", item.id not in walked)
        walked[item.id] = item
everything = {item.id for item in client.search(limit=7).items()}
expect("pages of seven hold everything, once", everything >= set(walked))
posted = [item.id for item in client.search(method="POST", limit=9).items()]
fetched = [item.id for item in client.search(method="GET", limit=9).items()]
expect("GET and POST agree, and nothing comes twice", posted == fetched and len(set(posted)) == len(posted))
expect("the count is that of the pages", client.search(limit=1).matched() == len(posted))

for item_collection in client.search(limit=50).pages_as_dicts():
    for each in item_collection["features"]:
        validate(each)

first = next(iter(walked.values()))
expect("an item is found by its id", [item.id for item in client.search(ids=[first.id]).items()] == [first.id])
expect("and by its address", client.get_collection(first.collection_id).get_item(first.id).id == first.id)
expect("a box finds it", first.id in {item.id for item in client.search(bbox=first.bbox).items()})
expect("its geometry finds it", first.id in {item.id for item in client.search(intersects=first.geometry).items()})
if first.datetime:
    expect("its time finds it", first.id in {item.id for item in client.search(datetime=first.datetime).items()})

cloudy = {item.id for item in walked.values() if item.properties.get("eo:cloud_cover", -1) > 50}
text = {item.id for item in client.search(filter="eo:cloud_cover > 50", filter_lang="cql2-text", method="GET").items()}
json = {"op": ">", "args": [{"property": "eo:cloud_cover"}, 50]}
tree = {item.id for item in client.search(filter=json, filter_lang="cql2-json").items()}
expect(f"filters agree: {len(cloudy)}, {len(text)}, {len(tree)}", cloudy == text & set(walked) == tree & set(walked) and cloudy)
query = {item.id for item in client.search(query={"eo:cloud_cover": {"gt": 50}}).items()}
expect("so does the Query extension", query == tree)
ordered = [item.properties["eo:cloud_cover"] for item in client.search(sortby="-properties.eo:cloud_cover", max_items=50).items() if "eo:cloud_cover" in item.properties]
expect("sorting sorts", ordered == sorted(ordered, reverse=True) and ordered)
few = client.search(fields=["id", "properties.platform", "-assets"], max_items=1).item_collection_as_dict()["features"][0]
expect("fields are chosen", "assets" not in few and "platform" in few["properties"] and "created" not in few["properties"])

lines = requests.get(f"{url}/search", headers={"Authorization": f"Bearer {key}", "Accept": "application/x-ndjson"}).text.splitlines()
expect("an export has every item", len(lines) == len(posted))
try:
    import stac_geoparquet.arrow
    import pyarrow.parquet
except ImportError:
    sys.exit("client.py: stac-geoparquet is missing")
answer = requests.get(f"{url}/search", headers={"Authorization": f"Bearer {key}", "Accept": "application/vnd.apache.parquet"})
table = pyarrow.parquet.read_table(io.BytesIO(answer.content))
expect("a GeoParquet has a row for each item", table.num_rows == len(posted))
rows = list(stac_geoparquet.arrow.stac_table_to_items(table))
expect("its rows are items again", [row["id"] for row in rows] == posted)
for row in rows[:20]:
    pystac.Item.from_dict(row)

print(f"client.py: {len(walked)} items of {len(collections)} collections walked, validated, searched, filtered and exported")
