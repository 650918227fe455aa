import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Closed, Described } from '#core/shapes.ts'
import * as items from '#model/imagery/item-read.ts'
import * as jobs from '#model/processing/job.ts'
import { operation } from '#operation.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import { choiceOf, styleLayer } from '#services/rendering/styled-layer.ts'
import { tileTemplate } from '#services/rendering/tilejson.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { Box } from '#wire/item.ts'
import { EXAMPLE_JOB, JobId } from '#wire/job.ts'

const Tiles = Closed(
  {
    item_id: Type.String({ description: 'ID of the created item' }),
    asset_key: Type.String({ description: 'Asset key of the rendered raster' }),
    template: Type.String({ description: 'Tile URL template with `{z}`, `{x}` and `{y}`' }),
    bounds: Described(Box, 'Bounding box as west, south, east, north in degrees'),
    min_zoom: Type.Integer({ description: 'Zoom level that shows the whole raster' }),
    max_zoom: Type.Integer({ description: 'Zoom level of full resolution' }),
  },
  { $id: 'JobTiles', description: 'Tiles of an output item' },
)

/** Returns tile URL templates of a completed job's outputs. */
export default operation({
  id: 'processing.job.tile_info',
  scope: 'clip:read',
  tier: 'read',
  input: Closed({ job_id: JobId }),
  output: Closed({ tiles: Type.Array(Tiles, { description: 'Tile information of each rendered item' }) }),
  example: {
    input: { job_id: EXAMPLE_JOB.id },
    output: {
      tiles: [
        {
          item_id: EXAMPLE_IDS.item,
          asset_key: 'data',
          template: `https://imagery.example/api/v1/items/${EXAMPLE_IDS.item}/tiles/{z}/{x}/{y}.webp`,
          bounds: [146.1, -18.9, 147.1, -18],
          min_zoom: 6,
          max_zoom: 14,
        },
      ],
    },
  },
}).handle({
  async check({ db, principal }, { job_id }) {
    const job = await jobs.requireReader(db, principal, job_id)
    if (job.status !== 'completed') throw problem('bad-request', `Only a completed job has tiles; this one is ${job.status}`)
    return job
  },
  async execute(context, _input, { outputItemIds }) {
    const { db, principal, baseUrl } = context
    const tiles = []
    for (const id of outputItemIds) {
      const { item } = await items.requireReader(db, principal, id)
      if (item.type === 'derived_vector') continue
      const layer = await context.layers.requireReader(principal, id, choiceOf({}))
      const { info } = await styleLayer(context, layer, {})
      const { bounds, minZoom, maxZoom } = coverageOf(info)
      const template = tileTemplate({ baseUrl, of: { kind: 'items', id }, parameters: {} })
      tiles.push({ item_id: id, asset_key: layer.asset.key, template, bounds: [...bounds], min_zoom: minZoom, max_zoom: maxZoom })
    }
    return { tiles }
  },
})
