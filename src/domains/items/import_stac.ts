import { setImmediate as letOthersRun } from 'node:timers/promises'
import Type from 'typebox'
import { GeoJsonFeatureCollection } from '#core/geojson-shapes.ts'
import { invalidField, Problem, problem } from '#core/problem.ts'
import { Closed, Described, Nullable, Uuid } from '#core/shapes.ts'
import * as collections from '#model/imagery/collection.ts'
import { copy } from '#model/imagery/item-copy.ts'
import * as items from '#model/imagery/item-read.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import * as projects from '#model/identity/project.ts'
import { fromFeature } from '#model/imagery/stac-import.ts'
import { operation } from '#operation.ts'
import type { RasterService } from '#ports/raster.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

/** Per call; a body of 10 MiB rarely has as many. Larger imports are sent in batches. */
const MAX_FEATURES = 20_000

const NONE: Awaited<ReturnType<typeof itemWrite.known>> = new Map()

/** Including empty lines. */
const MAX_LINES = 2 * MAX_FEATURES

interface ImportError {
  index: number
  id: string | null
  message: string
}

/**
 * Registers STAC items by reference, in bulk, from a FeatureCollection, NDJSON or STAC-GeoParquet. All valid items are registered in
 * one transaction; rejected ones are listed with the reason. Items that already exist are only counted, so a call can be repeated.
 */
export default operation({
  id: 'items.import_stac',
  scope: 'items:write',
  tier: 'compute',
  maxBodyBytes: 10 * 1024 * 1024,
  produces: ['item:created_in>project'],
  events: ['item.created'],
  input: Closed({
    project_id: Described(Uuid, 'Project ID'),
    collection_id: Described(Type.Optional(Nullable(ItemId)), 'ID of the collection to add the items to'),
    features: Described(Type.Optional(GeoJsonFeatureCollection), 'STAC items as a GeoJSON FeatureCollection'),
    ndjson: Type.Optional(Type.String({ minLength: 1, description: 'STAC items as newline-delimited JSON' })),
    geoparquet: Type.Optional(Type.String({ minLength: 1, description: 'STAC-GeoParquet file in Base64' })),
  }),
  output: Closed(
    {
      created: Type.Integer({ description: 'Number of items created' }),
      skipped: Type.Integer({ description: 'Number of items that already existed' }),
      errors: Type.Array(
        Closed({
          index: Type.Integer({ description: 'Position in the request, counted from 0' }),
          id: Described(Nullable(Type.String()), 'STAC item ID; null if missing'),
          message: Type.String({ description: 'Why the feature was rejected' }),
        }),
        { description: 'Features that were rejected' },
      ),
    },
    { description: 'Number of imported items, and those that were rejected' },
  ),
  example: {
    input: {
      project_id: EXAMPLE_ITEM.project_id,
      ndjson:
        '{"type":"Feature","id":"S2B_55KFA_20260214_0_L2A","geometry":null,"properties":{"datetime":"2026-02-14T00:31:19Z"},"assets":{}}',
    },
    output: { created: 1, skipped: 0, errors: [] },
  },
}).handle({
  async check({ db, principal, raster, signal }, input) {
    const project = projects.requireActive(await projects.requireRole(db, principal, input.project_id, 'editor'))
    const collectionId = input.collection_id == null ? null : (await collections.requireIn(db, project.id, input.collection_id)).id
    const sources = await sourcesOf(input, raster, signal)
    if (sources.length > MAX_FEATURES)
      throw problem('bad-request', `One call registers at most ${MAX_FEATURES} items; send them in batches`)
    return { project, collectionId, ...(await read(sources, collectionId, raster)) }
  },
  async execute({ tx, principal, clock, lineage, events, attributeTo }, _input, { project, collectionId, accepted, errors }) {
    attributeTo(project.organizationId)
    const now = clock.now()
    await itemWrite.lockForeignIds(tx, project.organizationId)
    await projects.lock(tx, project.id)
    if (collectionId) await collections.lock(tx, project.id, collectionId)
    const existing = accepted.size === 0 ? NONE : await itemWrite.known(tx, project.organizationId, [...accepted.keys()])
    const stored = await copy(
      tx,
      { organizationId: project.organizationId, projectId: project.id, createdBy: principal.userId, now },
      [...accepted.values()].filter(({ item }) => !existing.has(item.id)).map(({ item }) => item),
    )
    for (const item of stored) {
      lineage.record('item', item.id, 'created_in', { kind: 'project', id: project.id })
      events.emit('item.created', item.id, items.summary(item))
    }
    if (stored.length === 0) lineage.nothingProduced()
    const readable = await projects.readableAmong(
      tx,
      principal,
      [...existing.values()].map(({ projectId }) => projectId),
    )
    const rejected = [...existing].flatMap(([id, known]): ImportError[] => {
      if (!known.isDeleted && known.projectId === project.id) return []
      return [{ index: accepted.get(id)!.index, id, message: rejectionOf(known, readable) }]
    })
    return {
      created: stored.length,
      skipped: existing.size - rejected.length,
      errors: [...errors, ...rejected].toSorted((a, b) => a.index - b.index),
    }
  },
})

/** For items that the caller cannot see, the message is always the same. */
function rejectionOf(existing: { projectId: string; isDeleted: boolean }, readable: ReadonlySet<string>): string {
  if (!readable.has(existing.projectId)) return 'has an ID that cannot be used in this organization; use another ID'
  return existing.isDeleted ? 'was deleted; IDs cannot be reused' : 'exists in another project of the organization'
}

type Sources = (() => unknown)[]

interface ImportInput {
  features?: Record<string, unknown>
  ndjson?: string
  geoparquet?: string
}

async function sourcesOf({ features, ndjson, geoparquet }: ImportInput, raster: RasterService, signal: AbortSignal): Promise<Sources> {
  if ([features, ndjson, geoparquet].filter((input) => input !== undefined).length !== 1)
    throw problem('bad-request', 'Send exactly one of features, ndjson and geoparquet')
  if (features) return featuresOf(features)
  if (ndjson !== undefined) return linesOf(ndjson)
  if (!BASE64.test(geoparquet!)) throw invalidField('geoparquet', 'must be a file in Base64')
  return parsed(await raster.table(Buffer.from(geoparquet!, 'base64'), MAX_FEATURES, signal))
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
const parsed = (lines: readonly string[]): Sources => lines.map((line) => () => JSON.parse(line) as unknown)

/** A line that is not valid JSON is one rejected feature; the others are still read. */
function linesOf(ndjson: string): Sources {
  let breaks = 0
  for (let at = ndjson.indexOf('\n'); at >= 0 && breaks <= MAX_LINES; at = ndjson.indexOf('\n', at + 1)) breaks++
  if (breaks > MAX_LINES) throw problem('bad-request', `One call registers at most ${MAX_FEATURES} items; send them in batches`)
  return parsed(ndjson.split('\n').filter((line) => line.trim() !== ''))
}

function featuresOf(value: Record<string, unknown>): Sources {
  if (value['type'] !== 'FeatureCollection' || !Array.isArray(value['features']))
    throw problem('bad-request', 'features must be a GeoJSON FeatureCollection')
  return value['features'].map((feature) => () => feature as unknown)
}

/** Validating thousands of geometries takes a while; other calls run in between. */
const MAX_SLICE_MS = 20

async function read(sources: readonly (() => unknown)[], collectionId: string | null, raster: RasterService) {
  const accepted = new Map<string, { index: number; item: itemWrite.NewItem }>()
  const errors: ImportError[] = []
  let sliceEnd = performance.now() + MAX_SLICE_MS
  for (const [index, source] of sources.entries()) {
    if (performance.now() > sliceEnd) {
      await letOthersRun()
      sliceEnd = performance.now() + MAX_SLICE_MS
    }
    let feature: unknown = null
    try {
      feature = source()
      const item = fromFeature(feature, collectionId, raster)
      if (accepted.has(item.id)) errors.push({ index, id: item.id, message: 'appears twice in this import; the first one was imported' })
      else accepted.set(item.id, { index, item })
    } catch (error) {
      if (!(error instanceof Problem) && !(error instanceof SyntaxError)) throw error
      errors.push({ index, id: idOf(feature), message: error instanceof Problem ? error.message : 'is not valid JSON' })
    }
  }
  return { accepted, errors }
}

function idOf(feature: unknown): string | null {
  const id = feature !== null && typeof feature === 'object' && 'id' in feature ? feature.id : null
  return typeof id === 'string' ? id.slice(0, items.MAX_ID_LENGTH) : null
}
