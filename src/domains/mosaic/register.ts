import Type from 'typebox'
import { requireBounded } from '#core/bounded.ts'
import { isUuid } from '#core/ids.ts'
import { parseInstant } from '#core/interval.ts'
import { invalidField, Problem } from '#core/problem.ts'
import { Closed, Described, Nullable, type Received, Timestamp, Uuid } from '#core/shapes.ts'
import * as collections from '#model/imagery/collection.ts'
import * as items from '#model/imagery/item-read.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import * as mosaics from '#model/imagery/mosaic.ts'
import * as projects from '#model/identity/project.ts'
import { operation, type Context } from '#operation.ts'
import { RasterError } from '#raster/errors.ts'
import { Box, Description, EXAMPLE_ITEM, ItemRecord, Name, toRecord } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

const MAX_SCENES = 10_000
const Href = Type.String({ minLength: 1, maxLength: 2_048, description: 'HTTPS URL on an allowed host' })
const MediaType = Type.Optional(Nullable(Type.String({ maxLength: 255, description: 'Media type, if not the default' })))
const Roles = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 16, description: 'Additional asset roles' }),
)
const Reference = Closed(
  { href: Href, roles: Roles, media_type: MediaType },
  { $id: 'MosaicAsset', description: 'A file that belongs to the mosaic' },
)

const Input = Closed({
  project_id: Described(Uuid, 'Project ID'),
  name: Described(Name, 'Display name of the mosaic'),
  description: Described(Type.Optional(Description), 'Description of the mosaic'),
  collection_id: Type.Optional(Nullable(Described(ItemId, "Collection ID; defaults to the project's Mosaics collection"))),
  mosaic_method: Type.String({ minLength: 1, maxLength: 100, description: 'Compositing method, such as `median` or `first`' }),
  bbox: Described(Box, 'Bounding box as west, south, east, north in degrees'),
  start_datetime: Described(Timestamp, 'Acquisition time of the first scene'),
  end_datetime: Described(Timestamp, 'Acquisition time of the last scene'),
  source_collections: Type.Array(ItemId, { minItems: 1, maxItems: 100, description: 'Collection IDs, or names of external collections' }),
  source_scene_count: Type.Optional(Nullable(Type.Integer({ minimum: 1, description: 'Number of source scenes' }))),
  data_type: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 50, description: 'Pixel data type, such as `uint8`' }))),
  band_roles: Type.Optional(
    Nullable(
      Type.Record(Type.String({ pattern: '^.{1,60}$' }), Type.Integer({ minimum: 1 }), {
        additionalProperties: false,
        description: 'Band role to 1-based band number',
      }),
    ),
  ),
  data_asset: Closed(
    {
      href: Href,
      band_count: Type.Integer({ minimum: 1, maximum: 256, description: 'Number of bands' }),
      roles: Roles,
      media_type: MediaType,
    },
    { description: 'File of the mosaic' },
  ),
  provenance_asset: Type.Optional(Nullable(Described(Reference, 'Raster with the source index of each pixel'))),
  source_lookup: Type.Optional(
    Nullable(
      Type.Array(
        Closed({
          value: Type.Integer({ minimum: 0, description: 'Source index in the pixels' }),
          scene_id: Described(ItemId, 'Scene ID'),
          collection: Type.Optional(Nullable(Described(ItemId, 'Collection of the scene'))),
        }),
        { minItems: 1, maxItems: MAX_SCENES, description: 'Scenes of the source indexes' },
      ),
    ),
  ),
  source_lookup_asset: Type.Optional(Nullable(Described(Reference, 'Scenes of the source indexes as a file, for more than 256 scenes'))),
  source_manifest_asset: Type.Optional(Nullable(Described(Reference, 'Source scenes as STAC-GeoParquet'))),
})

/** Registers a mosaic by the URLs of its files, with its three layers of provenance. No bytes are copied. */
export default operation({
  id: 'mosaic.register',
  scope: 'items:write',
  tier: 'compute',
  idempotent: true,
  produces: ['item:derived_from>collection', 'item:created_in>project'],
  events: ['item.created', 'collection.created'],
  input: Input,
  output: Closed({ item: ItemRecord }, { description: 'The registered item' }),
  example: {
    input: {
      project_id: EXAMPLE_ITEM.project_id,
      name: 'Reef, first quarter',
      mosaic_method: 'median',
      bbox: [146, -19, 147, -18],
      start_datetime: '2026-01-01T00:00:00Z',
      end_datetime: '2026-03-31T23:59:59Z',
      source_collections: ['sentinel-2-l2a'],
      data_asset: { href: 'https://data.example/reef-q1.tif', band_count: 3 },
      provenance_asset: { href: 'https://data.example/reef-q1-source.tif' },
      source_lookup: [{ value: 1, scene_id: EXAMPLE_ITEM.stac_id, collection: 'sentinel-2-l2a' }],
    },
    output: { item: { ...EXAMPLE_ITEM, type: 'mosaic' as const } },
  },
}).handle({
  permit: ({ db, principal }, { project_id }) => projects.requireRole(db, principal, project_id, 'editor'),
  async check(context, input, permitted) {
    const { db } = context
    const project = projects.requireActive(permitted)
    if (input.collection_id != null) await collections.requireIn(db, project.id, input.collection_id)
    const sources = await readableSources(context, input.source_collections)
    const fields = fieldsOf(input, context)
    mosaics.requireLayers(fields)
    mosaics.toItem({ ...fields, collectionId: '' }) // Validates bounding box and times before anything changes.
    return { project, fields, sources }
  },
  /** The data type comes from the raster; null if it cannot be read now. */
  async prepare({ raster, signal }, _input, { fields }): Promise<string | null> {
    if (fields.dataType !== null) return fields.dataType
    try {
      return (await raster.describe({ url: fields.data.href }, signal)).dataType
    } catch (error) {
      if (error instanceof RasterError || error instanceof Problem) return null
      throw error
    }
  },
  async execute({ tx, principal, clock, lineage, events, attributeTo }, input, { project, fields, sources }, dataType) {
    attributeTo(project.organizationId)
    const owner = { organizationId: project.organizationId, projectId: project.id, createdBy: principal.userId, now: clock.now() }
    await projects.lock(tx, project.id)
    const { collection, isNew } = input.collection_id
      ? { collection: await collections.requireIn(tx, project.id, input.collection_id), isNew: false }
      : await collections.openSystem(tx, owner, mosaics.MOSAICS)
    await collections.lock(tx, project.id, collection.id)
    if (isNew) events.emit('collection.created', collection.id, collections.summary(collection))
    const [stored] = await itemWrite.insert(tx, owner, [mosaics.toItem({ ...fields, dataType, collectionId: collection.id })])
    lineage.record('item', stored!.id, 'created_in', { kind: 'project', id: project.id })
    for (const id of sources) lineage.record('item', stored!.id, 'derived_from', { kind: 'collection', id })
    events.emit('item.created', stored!.id, items.summary(stored!))
    return { item: toRecord(stored!) }
  },
})

function fieldsOf(input: Received<typeof Input>, { raster }: Context): Omit<mosaics.MosaicFields, 'collectionId'> {
  const reference = (field: 'data_asset' | 'provenance_asset' | 'source_lookup_asset' | 'source_manifest_asset') => {
    const asset = input[field]
    if (asset == null) return null
    if (!raster.canRead(asset.href)) throw invalidField(`${field}.href`, 'must be an HTTPS URL on an allowed host')
    return { href: asset.href, roles: asset.roles ?? [], mediaType: asset.media_type ?? null }
  }
  return {
    name: input.name,
    description: input.description ?? null,
    method: input.mosaic_method,
    bbox: input.bbox,
    startDatetime: parseInstant(input.start_datetime, 'start_datetime'),
    endDatetime: parseInstant(input.end_datetime, 'end_datetime'),
    sourceCollections: [...new Set(input.source_collections)],
    sourceSceneCount: input.source_scene_count ?? null,
    dataType: input.data_type ?? null,
    bandCount: input.data_asset.band_count,
    bandRoles: input.band_roles == null ? null : requireBounded(input.band_roles, 'band_roles'),
    data: reference('data_asset')!,
    provenance: reference('provenance_asset'),
    lookup:
      input.source_lookup?.map(({ value, scene_id, collection }) => ({ value, sceneId: scene_id, collection: collection ?? null })) ?? null,
    lookupAsset: reference('source_lookup_asset'),
    manifest: reference('source_manifest_asset'),
    jobId: null,
  }
}

/** Source collections that the caller can read get lineage; other names are only stored. */
async function readableSources({ db, principal }: Context, sources: readonly string[]): Promise<string[]> {
  if (!principal.organizationId) return []
  const readable = await collections.listOfOrganization(db, {
    organizationId: principal.organizationId,
    hiddenProjectIds: await projects.hiddenFrom(db, principal),
    ids: sources.filter(isUuid),
  })
  return readable.map(({ id }) => id)
}
