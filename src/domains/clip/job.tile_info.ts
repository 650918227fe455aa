import Type from 'typebox'
import { Closed, Described } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import { tileTemplate } from '#services/rendering/tilejson.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { Box } from '#wire/item.ts'
import { filesOf, requireCompleted } from './clips.lib.ts'
import { EXAMPLE_CLIP_ID, JobId } from './wire.ts'

const Tiles = Closed(
  {
    mosaic_type: Type.String({ description: 'Mosaic type of the file' }),
    item_id: Type.String({ description: 'ID of the created item' }),
    template: Type.String({ description: 'Tile URL template with `{z}`, `{x}` and `{y}`' }),
    bounds: Described(Box, 'Bounding box as west, south, east, north in degrees'),
    min_zoom: Type.Integer({ description: 'Zoom level that shows the whole raster' }),
    max_zoom: Type.Integer({ description: 'Zoom level of full resolution' }),
  },
  { $id: 'ClipTiles', description: 'Tiles of a clipped raster' },
)

/** The tile URLs of a completed clip, with bounds and zoom levels. */
export default operation({
  id: 'clip.job.tile_info',
  scope: 'clip:read',
  tier: 'read',
  input: Closed({ job_id: JobId }),
  output: Closed({ tiles: Type.Array(Tiles, { description: 'Tile information of each file' }) }),
  example: {
    input: { job_id: EXAMPLE_CLIP_ID },
    output: {
      tiles: [
        {
          mosaic_type: 'data',
          item_id: EXAMPLE_IDS.item,
          template: `https://imagery.example/api/v1/items/${EXAMPLE_IDS.item}/tiles/{z}/{x}/{y}.webp?asset_key=data`,
          bounds: [146.3, -18.6, 146.5, -18.4],
          min_zoom: 8,
          max_zoom: 14,
        },
      ],
    },
  },
}).handle({
  check: (context, { job_id }) => requireCompleted(context, job_id),
  async execute(context, _input, job) {
    const { raster, signal, baseUrl } = context
    const tiles = []
    for (const { at, itemId, mosaic_type } of (await filesOf(context, [job])).get(job.id)!) {
      const { bounds, minZoom, maxZoom } = coverageOf(await raster.describe({ object: at }, signal))
      const template = tileTemplate({ baseUrl, of: { kind: 'items', id: itemId }, parameters: { asset_key: mosaic_type } })
      tiles.push({ mosaic_type, item_id: itemId, template, bounds: [...bounds], min_zoom: minZoom, max_zoom: maxZoom })
    }
    return { tiles }
  },
})
