"""Uploads a GeoTIFF and writes a page with a map of it: `upload-and-map.py FILE.tif map.html`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from connect import connect, first_project

file, page = (sys.argv[1:] + ["field.tif", "map.html"][len(sys.argv) - 1 :])[:2]
gt = connect()
upload = gt.upload(
    file,
    project_id=first_project(gt),
    progress=lambda sent, total: print(f"{round(100 * sent / total)} %", file=sys.stderr),
).wait()
item_id = upload.item_ids[0]
bounds = gt.items.tile.tilejson(item_id=item_id).bounds
# A map library cannot send a header, so the page gets a key of its own that only reads.
key = gt.api_keys.create(name="map page", permissions=["read"], expires_in_days=1).key
tiles = gt.tile_url(item_id, "png", key=key)
Path(page).write_text(
    f"""<!doctype html><meta charset="utf-8"><title>{item_id}</title>
<link rel="stylesheet" href="{gt.base_url}/assets/maplibre-gl.css"><div id="map" style="height: 100vh"></div>
<script type="module">
import * as maplibre from '{gt.base_url}/assets/maplibre-gl.mjs'
const source = {{ type: 'raster', tiles: [{json.dumps(tiles)}], tileSize: 256 }}
const style = {{ version: 8, sources: {{ item: source }}, layers: [{{ id: 'item', type: 'raster', source: 'item' }}] }}
new maplibre.Map({{ container: 'map', style, bounds: {json.dumps(bounds)} }})
</script>
""",
    encoding="utf-8",
)
print(json.dumps({"item_id": item_id, "tiles": re.sub("key=[^&]+", "key=…", tiles), "page": page}, ensure_ascii=False))
