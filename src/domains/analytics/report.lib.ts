/** What methods store: rasters and images for a week, and a report in the lineage. */
import { invalidField } from '#core/problem.ts'
import type { Context, WriteContext } from '#operation.ts'
import type { RasterStyle } from '#model/plans/expiring-file.ts'
import type { Style } from '#raster/render/style.ts'
import type { RasterReference } from './wire.ts'
import type { Measure } from './measure.lib.ts'
import type { Scene } from './scene.lib.ts'
import { tileTemplate } from '#services/rendering/tilejson.ts'
import { keepReport, REPORT_SECONDS } from '#services/documents/report-store.ts'

/** The item's own tile URL, with parameters that show the measure. */
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

interface ComputedRaster {
  reportId: string
  organizationId: string
  /** Projects of its sources; whoever can read all of them can see the result. */
  projectIds: readonly string[]
  cog: Uint8Array
  bounds: [number, number, number, number]
  colormap: string
  range: readonly [number, number]
}

const IMAGE_SIDE_PX = 1_024

/** Stores a computed raster and an image of it; its tiles are rendered from there. */
export async function storeRaster(context: Context, computed: ComputedRaster): Promise<RasterReference> {
  const { raster, signal, baseUrl } = context
  const report = { organizationId: computed.organizationId, reportId: computed.reportId }
  const style = { projectIds: computed.projectIds, band: 1, colormap: computed.colormap, range: computed.range }
  const cog = await keepReport(context, { ...report, ending: 'tif', contentType: 'image/tiff', body: computed.cog, style })
  const { bytes } = await raster.mapImage(
    { object: cog.at },
    {
      bounds: computed.bounds,
      maxSide: IMAGE_SIDE_PX,
      format: 'png',
      style: styleOf(style),
    },
    signal,
  )
  const image = await keepReport(context, { ...report, ending: 'png', contentType: 'image/png', body: bytes })
  return {
    item_id: null,
    tile_template: tileTemplate({ baseUrl, of: { kind: 'analytics', id: cog.id }, parameters: {} }),
    url: cog.url,
    picture_url: image.url,
    bounds: [...computed.bounds],
    expires_in_seconds: REPORT_SECONDS,
  }
}

export const styleOf = ({ band, colormap, range }: Omit<RasterStyle, 'projectIds'>): Style => ({
  kind: 'single',
  band,
  colormap,
  ranges: [[...range]],
})

/** Records the lineage and emits the event of a run. */
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

/** A report belongs to one organization, so all its sources must too. */
export function requireOneOrganization(scenes: readonly { item: Scene['item'] }[], field: string): string {
  const ids = [...new Set(scenes.map(({ item }) => item!.organizationId))]
  if (ids.length !== 1) throw invalidField(field, 'must all belong to one organization; analyse each organization separately')
  return ids[0]!
}
