/** Uploads a GeoTIFF and writes a page with a map of it: `upload-and-map.ts FILE.tif map.html`. */
import { writeFile } from 'node:fs/promises'
import { openFile } from '../packages/client/src/node.ts'
import { connect, firstProject } from './connect.ts'

const [file = 'field.tif', page = 'map.html'] = process.argv.slice(2)
const gt = await connect()
const { id, item_ids } = await gt.upload({
  projectId: await firstProject(gt),
  files: [await openFile(file)],
  onProgress: ({ sentBytes, totalBytes }) => console.error(`${Math.round((100 * sentBytes) / totalBytes)} %`),
})
const itemId = item_ids[0]!
await gt.waitFor({ upload: id })
const { bounds } = await gt.items.tile.tilejson({ item_id: itemId })
// A map library cannot send a header, so the page gets a key of its own that only reads.
const { key } = await gt.apiKeys.create({ name: 'map page', permissions: ['read'], expires_in_days: 1 })
const tiles = gt.tileUrl(itemId, { format: 'png', key })
await writeFile(
  page,
  `<!doctype html><meta charset="utf-8"><title>${itemId}</title>
<link rel="stylesheet" href="${gt.baseUrl}/assets/maplibre-gl.css"><div id="map" style="height: 100vh"></div>
<script type="module">
import * as maplibre from '${gt.baseUrl}/assets/maplibre-gl.mjs'
const source = { type: 'raster', tiles: [${JSON.stringify(tiles)}], tileSize: 256 }
const style = { version: 8, sources: { item: source }, layers: [{ id: 'item', type: 'raster', source: 'item' }] }
new maplibre.Map({ container: 'map', style, bounds: ${JSON.stringify(bounds)} })
</script>
`,
)
console.log(JSON.stringify({ item_id: itemId, tiles: tiles.replace(/key=[^&]+/, 'key=…'), page }))
