/** What methods keep: rasters and pictures in the store for a week, and a report that lineage knows. */
import { invalidField } from '#core/problem.ts'
import type { Context, WriteContext } from '#operation.ts'
import type { Look } from '#model/plans/kept-file.ts'
import type { Style } from '#raster/render/style.ts'
import type { RasterReference } from './wire.ts'
import type { Measure } from './measure.lib.ts'
import type { Scene } from './scene.lib.ts'
import { tileTemplate } from '#services/rendering/tilejson.ts'
import { keepReport, REPORT_SECONDS } from '#services/documents/report-store.ts'

/** Tiles of an item that show a measure, as an address of the item's own. */
export function tilesOf({ baseUrl }: Pick<Context, 'baseUrl'>, scene: Scene, measure: Measure): RasterReference | null {
  if (!scene.item) return null
  const parameters = { expression: measure.expression, colormap: measure.colormap, asset_key: scene.assetKey }
  return {
    item_id: scene.item.id,
    tile_template: tileTemplate({ baseUrl, of: { kind: 'items', id: scene.item.id }, parameters }),
    url: null,
    picture_url: null,
    bounds: null,
    expires_in_seconds: null,
  }
}

interface Kept {
  reportId: string
  organizationId: string
  /** Where its sources lie: whoever may read them all may see it. */
  projectIds: readonly string[]
  cog: Uint8Array
  bounds: [number, number, number, number]
  colormap: string
  range: readonly [number, number]
}

const PICTURE_SIDE_PX = 1_024

/** Puts a computed raster and its picture into the store; its tiles are drawn from there. */
export async function keepRaster(context: Context, kept: Kept): Promise<RasterReference> {
  const { raster, signal, baseUrl } = context
  const name = { organizationId: kept.organizationId, reportId: kept.reportId }
  const look = { projectIds: kept.projectIds, band: 1, colormap: kept.colormap, range: kept.range }
  const cog = await keepReport(context, { ...name, ending: 'tif', contentType: 'image/tiff', body: kept.cog, look })
  const { bytes } = await raster.picture(
    { object: cog.at },
    {
      bounds: kept.bounds,
      maxSide: PICTURE_SIDE_PX,
      format: 'png',
      style: styleOf(look),
    },
    signal,
  )
  const picture = await keepReport(context, { ...name, ending: 'png', contentType: 'image/png', body: bytes })
  return {
    item_id: null,
    tile_template: tileTemplate({ baseUrl, of: { kind: 'analytics', id: cog.id }, parameters: {} }),
    url: cog.url,
    picture_url: picture.url,
    bounds: [...kept.bounds],
    expires_in_seconds: REPORT_SECONDS,
  }
}

export const styleOf = ({ band, colormap, range }: Omit<Look, 'projectIds'>): Style => ({
  kind: 'single',
  band,
  colormap,
  ranges: [[...range]],
})

/** Lineage and the event of a method that ran. */
export function recordRun(
  { lineage, events, clock, attributeTo, usage }: WriteContext,
  run: { id: string; operation: string; organizationId: string; itemIds: readonly string[]; itemSeqs: readonly number[] },
): void {
  attributeTo(run.organizationId)
  for (const itemId of run.itemIds) lineage.record('report', run.id, 'derived_from', { kind: 'item', id: itemId })
  events.emit('analytics.executed', run.id, {
    id: run.id,
    operation: run.operation,
    item_ids: [...run.itemIds],
    created_at: clock.now().toISOString(),
  })
  for (const seq of run.itemSeqs) usage.touch(seq)
}

/** A report belongs to one organization, so what it is made of must. */
export function oneOrganization(scenes: readonly { item: Scene['item'] }[], field: string): string {
  const ids = [...new Set(scenes.map(({ item }) => item!.organizationId))]
  if (ids.length !== 1) throw invalidField(field, 'are of several organizations; ask about each by itself')
  return ids[0]!
}
