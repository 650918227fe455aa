import type { Context } from '#operation.ts'
import * as assets from '#model/imagery/asset.ts'
import type { ItemWithProject } from '#model/imagery/item-read.ts'
import type { Layer } from '#model/imagery/item-layer.ts'
import { Problem } from '#core/problem.ts'
import { StorageError } from '#ports/storage.ts'
import { RasterError } from '#raster/types.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import { bandStatistics } from '#services/rendering/band-statistics.ts'
import { styleLayer, type StyledLayer } from '#services/rendering/styled-layer.ts'
import type { Chart, ReportDocument, ReportMap, Table } from '#services/documents/report.ts'
import { bytes, day, whole } from './figures.lib.ts'

type Body = Omit<ReportDocument, 'organization' | 'createdAt'>

const IMAGE_SIDE_PX = 1_200
const MAX_CHARTED_BANDS = 4
const BIN_COUNT = 32
const MAX_PROPERTIES = 40

/** An item with its image, metadata, files and histograms; without the image if its raster cannot be read. */
export async function itemBody(context: Context, { item, project }: ItemWithProject): Promise<Body> {
  const files = await assets.list(context.db, item.seq)
  const styled = await styledLayerOf(context, item.id)
  const pixels = styled ? await readPixels(context, styled) : null
  return {
    title: item.name,
    subject: `Item in project ${project.name}`,
    period: day(item.datetime),
    facts: [
      { label: 'Acquired', value: item.datetime?.toISOString().slice(0, 16).replace('T', ' ') ?? 'unknown' },
      { label: 'Type', value: item.type.replaceAll('_', ' ') },
      { label: 'Cloud cover', value: item.cloudCover === null ? 'unknown' : `${item.cloudCover}%` },
      { label: 'Resolution', value: item.gsd === null ? 'unknown' : `${item.gsd} m` },
      { label: 'Files', value: `${files.length}, ${bytes(files.reduce((sum, { fileSizeBytes }) => sum + (fileSizeBytes ?? 0), 0))}` },
      { label: 'Size', value: styled ? `${whole(styled.info.width)} × ${whole(styled.info.height)} pixels` : 'unknown' },
    ],
    map: pixels?.map ?? null,
    charts: pixels?.charts ?? [],
    tables: [...(pixels ? [pixels.table] : []), assetTable(files), propertyTable(item.properties)],
  }
}

/** The item's default rendering; null without a readable raster. Server errors are thrown. */
async function styledLayerOf(context: Context, itemId: string): Promise<StyledLayer | null> {
  try {
    const layer: Layer = await context.layers.requireReader(context.principal, itemId, { assetKey: null, profile: 'default' })
    return await styleLayer(context, layer, {})
  } catch (error) {
    if (isUnreadable(error)) return null
    throw error
  }
}

const isUnreadable = (error: unknown): boolean =>
  error instanceof RasterError || error instanceof StorageError || (error instanceof Problem && error.status < 500)

async function readPixels(context: Context, styled: StyledLayer): Promise<{ map: ReportMap; charts: Chart[]; table: Table } | null> {
  try {
    const { bounds } = coverageOf(styled.info)
    const style = { bounds, maxSide: IMAGE_SIDE_PX, format: 'png' as const, style: styled.style }
    const image = await context.raster.mapImage(styled.source, style, context.signal)
    const measured = await bandStatistics(context, styled.source, { percentiles: [2, 50, 98], binCount: BIN_COUNT, minSidePx: 1_024 })
    const nameOf = (index: number) => Object.keys(styled.names).find((name) => styled.names[name] === index + 1) ?? `band ${index + 1}`
    const bands = measured.flatMap((band, index) => (band ? [{ ...band, name: nameOf(index) }] : []))
    return {
      map: { bounds, image, outlines: [], caption: 'Full scene' },
      charts: bands.slice(0, MAX_CHARTED_BANDS).map(({ histogram, name }) => ({
        title: `Histogram of ${name}`,
        unit: 'pixels',
        kind: 'bars' as const,
        points: histogram.counts.map((value, bin) => ({ label: String(Number(histogram.edges[bin]!.toPrecision(3))), value })),
      })),
      table: bandTable(bands),
    }
  } catch (error) {
    if (isUnreadable(error)) return null
    throw error
  }
}

interface BandStatistics {
  name: string
  min: number | null
  max: number | null
  mean: number | null
  std: number | null
  percentiles: (number | null)[]
  validFraction: number
}

const rounded = (value: number | null | undefined): number | null => (value == null ? null : Number(value.toPrecision(6)))

function bandTable(bands: readonly BandStatistics[]): Table {
  const number = (key: string, label: string) => ({ key, label, isNumber: true as const, share: 1.4 })
  return {
    title: 'Band statistics, from an overview',
    columns: [
      { key: 'name', label: 'Band', share: 2 },
      number('min', 'Min'),
      number('p2', '2%'),
      number('p50', 'Median'),
      number('mean', 'Mean'),
      number('p98', '98%'),
      number('max', 'Max'),
      number('std', 'Std dev'),
      number('valid_percent', 'Valid %'),
    ],
    rows: bands.map(({ name, min, max, mean, std, percentiles: [p2, p50, p98], validFraction }) => [
      name,
      ...[min, p2, p50, mean, p98, max, std].map(rounded),
      rounded(validFraction * 100),
    ]),
    more: 0,
  }
}

const assetTable = (files: readonly assets.Asset[]): Table => ({
  title: 'Files',
  columns: [
    { key: 'key', label: 'Key', share: 2 },
    { key: 'media_type', label: 'Type', share: 5 },
    { key: 'roles', label: 'Roles', share: 2 },
    { key: 'size_bytes', label: 'Bytes', isNumber: true, share: 2 },
    { key: 'state', label: 'State', share: 1.5 },
  ],
  rows: files.map(({ key, mediaType, roles, fileSizeBytes, state }) => [key, mediaType, roles.join(' '), fileSizeBytes, state]),
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
