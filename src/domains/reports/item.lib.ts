import type { Context } from '#operation.ts'
import * as asset from '#model/imagery/asset.ts'
import type { ItemWithProject } from '#model/imagery/item-read.ts'
import type { Layer } from '#model/imagery/item-layer.ts'
import { Problem } from '#core/problem.ts'
import { StorageError } from '#ports/storage.ts'
import { RasterError } from '#raster/types.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import { resolveLook, type ResolvedLook } from '#services/drawing/look.ts'
import type { Chart, ReportDocument, ReportMap, Table } from '#services/documents/report.ts'
import { bytes, day, whole } from './figures.lib.ts'

type Body = Omit<ReportDocument, 'organization' | 'createdAt'>

const PICTURE_SIDE_PX = 1_200
const MAX_CHARTED_BANDS = 4
const BIN_COUNT = 32
const MAX_PROPERTIES = 40

/** One item: its picture, its facts, its files and how its values are spread. Without a raster that can be read, without a picture. */
export async function itemBody(context: Context, found: ItemWithProject): Promise<Body> {
  const { item, project } = found
  const assets = await asset.list(context.db, item.seq)
  const look = await shownOf(context, item.id)
  const pixels = look ? await readPixels(context, look) : null
  return {
    title: item.name,
    subject: `Item of the project ${project.name}`,
    period: day(item.datetime),
    facts: [
      { label: 'Taken', value: item.datetime?.toISOString().slice(0, 16).replace('T', ' ') ?? 'unknown' },
      { label: 'Kind', value: item.type.replaceAll('_', ' ') },
      { label: 'Cloud cover', value: item.cloudCover === null ? 'unknown' : `${item.cloudCover} %` },
      { label: 'Ground sampling', value: item.gsd === null ? 'unknown' : `${item.gsd} m` },
      { label: 'Files', value: `${assets.length}, ${bytes(assets.reduce((sum, { fileSizeBytes }) => sum + (fileSizeBytes ?? 0), 0))}` },
      { label: 'Size', value: look ? `${whole(look.info.width)} x ${whole(look.info.height)} pixels` : 'unknown' },
    ],
    map: pixels?.map ?? null,
    charts: pixels?.charts ?? [],
    tables: [...(pixels ? [pixels.table] : []), assetTable(assets), propertyTable(item.properties)],
  }
}

/** How the item is shown, or null where it has no raster that could be. Faults of ours are not hidden. */
async function shownOf(context: Context, itemId: string): Promise<ResolvedLook | null> {
  try {
    const layer: Layer = await context.layers.requireReader(context.principal, itemId, { assetKey: null, profile: 'default' })
    return await resolveLook(context, layer, {})
  } catch (error) {
    if (isUnreadable(error)) return null
    throw error
  }
}

const isUnreadable = (error: unknown): boolean =>
  error instanceof RasterError || error instanceof StorageError || (error instanceof Problem && error.status < 500)

async function readPixels(
  { raster, signal }: Context,
  look: ResolvedLook,
): Promise<{ map: ReportMap; charts: Chart[]; table: Table } | null> {
  try {
    const { bounds } = coverageOf(look.info)
    const picture = await raster.picture(look.source, { bounds, maxSide: PICTURE_SIDE_PX, format: 'png', style: look.style }, signal)
    const { bands } = await raster.statistics(look.source, { percentiles: [2, 50, 98], binCount: BIN_COUNT, minSidePx: 1_024 }, signal)
    const nameOf = (index: number) => Object.keys(look.names).find((name) => look.names[name] === index + 1) ?? `band ${index + 1}`
    return {
      map: { bounds, picture, outlines: [], caption: 'The whole scene' },
      charts: bands.slice(0, MAX_CHARTED_BANDS).map(({ histogram }, index) => ({
        title: `Values of ${nameOf(index)}`,
        unit: 'pixels',
        kind: 'bars' as const,
        points: histogram.counts.map((value, bin) => ({ label: String(Number(histogram.edges[bin]!.toPrecision(3))), value })),
      })),
      table: bandTable(bands.map((band, index) => ({ ...band, name: nameOf(index) }))),
    }
  } catch (error) {
    if (isUnreadable(error)) return null
    throw error
  }
}

interface BandNumbers {
  name: string
  min: number | null
  max: number | null
  mean: number | null
  std: number | null
  percentiles: (number | null)[]
  validFraction: number
}

const rounded = (value: number | null | undefined): number | null => (value == null ? null : Number(value.toPrecision(6)))

function bandTable(bands: readonly BandNumbers[]): Table {
  const number = (key: string, label: string) => ({ key, label, isNumber: true as const, share: 1.4 })
  return {
    title: 'Bands, from an overview of the scene',
    columns: [
      { key: 'name', label: 'Band', share: 2 },
      number('min', 'Least'),
      number('p2', '2 %'),
      number('p50', 'Median'),
      number('mean', 'Mean'),
      number('p98', '98 %'),
      number('max', 'Most'),
      number('std', 'Spread'),
      number('valid_percent', 'Data %'),
    ],
    rows: bands.map(({ name, min, max, mean, std, percentiles: [p2, p50, p98], validFraction }) => [
      name,
      ...[min, p2, p50, mean, p98, max, std].map(rounded),
      rounded(validFraction * 100),
    ]),
    more: 0,
  }
}

const assetTable = (assets: readonly asset.Asset[]): Table => ({
  title: 'Files',
  columns: [
    { key: 'key', label: 'Key', share: 2 },
    { key: 'media_type', label: 'Type', share: 5 },
    { key: 'roles', label: 'Roles', share: 2 },
    { key: 'size_bytes', label: 'Bytes', isNumber: true, share: 2 },
    { key: 'state', label: 'State', share: 1.5 },
  ],
  rows: assets.map(({ key, mediaType, roles, fileSizeBytes, state }) => [key, mediaType, roles.join(' '), fileSizeBytes, state]),
  more: 0,
})

function propertyTable(properties: Record<string, unknown>): Table {
  const entries = Object.entries(properties)
  return {
    title: 'Properties',
    columns: [
      { key: 'name', label: 'Name', share: 2 },
      { key: 'value', label: 'Value', share: 5 },
    ],
    rows: entries.slice(0, MAX_PROPERTIES).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    more: Math.max(0, entries.length - MAX_PROPERTIES),
  }
}
