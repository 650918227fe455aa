import { readFileSync } from 'node:fs'
import type { Client } from '../../../client/src/core.ts'
import { connect } from '../config.ts'
import { UsageError } from '../failure.ts'
import { readFlags, type GlobalOptions, type Run } from '../options.ts'
import { json, note, print, table } from '../terminal.ts'

interface Feature {
  id: string
  properties: Readonly<Record<string, unknown>>
}

interface SearchResult {
  features: Feature[]
  sources?: { source_id: string; error: string | null }[]
}

const LIMIT = 20
const WORLD = [-180, -90, 180, 90]

/** Prints scenes as a table on a terminal, and as JSON, JSON lines or GeoJSON for programs. */
export const run: Run = async (rest, options) => {
  const { values, switches } = readFlags(rest, {
    values: ['bbox', 'intersects', 'datetime', 'max-cloud', 'host', 'limit', 'collections'],
    switches: ['mine', 'geojson'],
    positions: 0,
  })
  const client = connect(options)
  const result = switches.has('mine') ? await searchMine(client, values) : await searchCatalog(client, values)
  for (const { source_id, error } of result.sources ?? []) if (error) note(`${source_id}: ${error}`, options.quiet)
  const [column, fallback] = switches.has('mine') ? ['NAME', null] : ['SOURCE', values['host'] ?? null]
  await show(result, { isGeojson: switches.has('geojson'), column, fallback }, options)
}

interface TableOptions {
  isGeojson: boolean
  /** Head of the second column, and its value for a scene that has none. */
  column: string
  fallback: string | null
}

async function show({ features }: SearchResult, { isGeojson, column, fallback }: TableOptions, options: GlobalOptions): Promise<void> {
  if (isGeojson) return await print(`${json({ type: 'FeatureCollection', features })}\n`)
  if (options.ndjson) return await print(features.map((feature) => `${json(feature, false)}\n`).join(''))
  if (options.json || !process.stdout.isTTY) return await print(`${json(features)}\n`)
  if (features.length === 0) return note('No results')
  const heads = ['ID', column, 'DATE', 'CLOUD %', 'CREDITS/KM²']
  const rows = features.map(row).map(([id, source, ...rest]) => [id ?? null, source ?? fallback, ...rest])
  await print(`${table(heads, rows)}\n`)
}

function row({ id, properties }: Feature): (string | number | null)[] {
  const text = (...names: string[]) => names.map((name) => properties[name]).find((value) => value != null) ?? null
  const cloud = text('cloudCoverage', 'eo:cloud_cover', 'cloud_cover')
  return [
    id,
    text('sourceId', 'collection', 'svc:name', 'name') as string | null,
    String(text('datetime', 'acquisitionDate') ?? '').slice(0, 10) || null,
    typeof cloud === 'number' ? Math.round(cloud) : null,
    text('creditsPerSqKm') as number | null,
  ]
}

function filterOf(values: Readonly<Record<string, string>>): Record<string, unknown> {
  const { bbox, intersects, datetime, limit } = values
  const area = intersects === undefined ? undefined : areaOf(intersects)
  return {
    ...(bbox === undefined ? (area === undefined ? { bbox: WORLD } : {}) : { bbox: numbers(bbox, 'bbox', 4) }),
    ...(area === undefined ? {} : { intersects: area }),
    ...(datetime === undefined ? {} : { datetime }),
    limit: limit === undefined ? LIMIT : numbers(limit, 'limit', 1)[0],
  }
}

async function searchCatalog(client: Client, values: Readonly<Record<string, string>>): Promise<SearchResult> {
  const cloud = values['max-cloud']
  const input = {
    ...filterOf(values),
    ...(cloud === undefined ? {} : { query: { cloudCoverage: { LTE: numbers(cloud, 'max-cloud', 1)[0] } } }),
    ...(values['collections'] === undefined ? {} : { collections: values['collections'].split(',') }),
  }
  const host = values['host']
  return host === undefined
    ? await client.call<SearchResult>('catalog.federated_search', input, {}, 'read')
    : await client.call<SearchResult>('catalog.search', { host_name: host, ...input }, {}, 'read')
}

async function searchMine(client: Client, values: Readonly<Record<string, string>>): Promise<SearchResult> {
  const { intersects: _, ...input } = filterOf(values)
  const cloud = values['max-cloud']
  const query = cloud === undefined ? {} : { query: { cloud_cover: { lte: numbers(cloud, 'max-cloud', 1)[0] } } }
  return await client.call<SearchResult>('items.search_org', { ...input, ...query }, {}, 'read')
}

export function numbers(text: string, flag: string, count: number): number[] {
  const values = text.split(',').map(Number)
  if (values.length !== count || values.some((value) => !Number.isFinite(value)))
    throw new UsageError(`--${flag} must be ${count === 1 ? 'a number' : `${count} numbers separated by commas`}`)
  return values
}

/** A bounding box as a polygon. */
export function boxOf(text: string): object {
  const [west, south, east, north] = numbers(text, 'bbox', 4) as [number, number, number, number]
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon', coordinates: [ring] }
}

export function areaOf(text: string): unknown {
  try {
    const value = JSON.parse(text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text) as {
      type: string
      geometry?: unknown
      features?: { geometry: unknown }[]
    }
    if (value.type === 'Feature') return value.geometry
    return value.type === 'FeatureCollection' ? value.features?.[0]?.geometry : value
  } catch {
    throw new UsageError('The area must be GeoJSON or @file')
  }
}
