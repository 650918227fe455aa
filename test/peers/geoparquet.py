"""Reads a STAC-GeoParquet file with rustac and with stac-geoparquet, and compares each with the JSON it was made of.

    python geoparquet.py items.parquet items.json

A table has a null for every field that a row lacks, so nulls are left out on both sides; times are compared as instants.
"""

import asyncio
import datetime
import json
import sys

import pyarrow.parquet
import rustac
import stac_geoparquet.arrow

table_path, json_path = sys.argv[1:3]
TIMES = {"datetime", "start_datetime", "end_datetime", "created", "updated"}


def plain(value, name=None):
    if isinstance(value, dict):
        return {key: plain(each, key) for key, each in value.items() if each is not None}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if name in TIMES and isinstance(value, str):
        return datetime.datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp()
    return value


def differences(wanted, got, path):
    if isinstance(wanted, dict) and isinstance(got, dict):
        for key in sorted(wanted.keys() | got.keys()):
            yield from differences(wanted.get(key, "(absent)"), got.get(key, "(absent)"), f"{path}.{key}")
    elif isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        for index, (one, other) in enumerate(zip(wanted, got)):
            yield from differences(one, other, f"{path}[{index}]")
    elif wanted != got:
        yield f"{path}: {wanted!r} became {got!r}"


async def with_rustac():
    return (await rustac.read(table_path))["features"]


with open(json_path) as file:
    wanted = {feature["id"]: plain(feature) for feature in json.load(file)}
readers = {
    "rustac": asyncio.run(with_rustac()),
    "stac-geoparquet": list(stac_geoparquet.arrow.stac_table_to_items(pyarrow.parquet.read_table(table_path))),
}
found = []
for reader, features in readers.items():
    got = {feature["id"]: plain(feature) for feature in features}
    found += [f"{reader}: {each}" for each in differences(wanted, got, "")]
if found:
    sys.exit("\n".join(found[:20]))
print(len(wanted))
