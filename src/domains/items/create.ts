import Type from 'typebox'
import { GeoJsonGeometry } from '#core/geojson-shapes.ts'
import { newId } from '#core/ids.ts'
import { parseInstant } from '#core/interval.ts'
import { invalidField } from '#core/problem.ts'
import { Closed, Described, FreeForm, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { requireHref } from '#model/imagery/asset.ts'
import * as collections from '#model/imagery/collection.ts'
import { requireProperties } from '#model/imagery/item-metadata.ts'
import { requireOrigins } from '#model/imagery/item-origin.ts'
import * as items from '#model/imagery/item-read.ts'
import { placeOf } from '#model/imagery/item-place.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import {
  AssetInput,
  Box,
  CloudCover,
  Description,
  EXAMPLE_ASSET,
  EXAMPLE_ITEM,
  Gsd,
  ItemKind,
  ItemRecord,
  MAX_ASSETS_PER_ITEM,
  Name,
  toRecord,
} from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

const MaybeId = Type.Optional(Nullable(ItemId))
const MaybeTime = Type.Optional(Nullable(Timestamp))

/** Registers an item in a project, optionally in a collection, with assets by URL; no bytes are copied. */
export default operation({
  id: 'items.create',
  scope: 'items:write',
  tier: 'compute',
  maxBodyBytes: 512 * 1024,
  produces: ['item:created_in>project'],
  events: ['item.created'],
  input: Closed({
    project_id: Described(Uuid, 'Project ID'),
    collection_id: Described(MaybeId, 'ID of the collection to add the item to'),
    stac_id: Described(MaybeId, 'STAC item ID'),
    type: Described(ItemKind, 'Item type'),
    geometry: Described(Type.Optional(Nullable(GeoJsonGeometry)), 'Item footprint in WGS84'),
    bbox: Described(
      Type.Optional(Nullable(Box)),
      'Bounding box as west, south, east, north in degrees; west is greater than east across the antimeridian',
    ),
    datetime: Described(MaybeTime, 'Acquisition time'),
    start_datetime: Described(MaybeTime, 'Start of the acquisition'),
    end_datetime: Described(MaybeTime, 'End of the acquisition'),
    cloud_cover: Described(Type.Optional(Nullable(CloudCover)), 'Cloud cover in percent'),
    gsd: Described(Type.Optional(Nullable(Gsd)), 'Ground resolution in metres per pixel'),
    name: Described(Name, 'Display name of the item'),
    description: Described(Type.Optional(Description), 'Item description'),
    properties: Described(Type.Optional(FreeForm), 'Further STAC properties'),
    stac_extensions: Described(
      Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { maxItems: 50 })),
      'STAC extension schema URLs',
    ),
    order_id: Described(MaybeId, 'ID of the order that delivered the item'),
    upload_id: Described(MaybeId, 'Upload session ID'),
    job_id: Described(MaybeId, 'ID of the job that produced the item'),
    assets: Described(Type.Optional(Type.Array(AssetInput, { maxItems: MAX_ASSETS_PER_ITEM })), 'Files of the item'),
  }),
  output: ItemRecord,
  example: {
    input: {
      project_id: EXAMPLE_ITEM.project_id,
      type: EXAMPLE_ITEM.type,
      name: EXAMPLE_ITEM.name,
      stac_id: EXAMPLE_ITEM.stac_id,
      geometry: EXAMPLE_ITEM.geometry,
      datetime: EXAMPLE_ITEM.datetime,
      cloud_cover: EXAMPLE_ITEM.cloud_cover,
      gsd: EXAMPLE_ITEM.gsd,
      properties: EXAMPLE_ITEM.properties,
      assets: [{ key: EXAMPLE_ASSET.key, href: EXAMPLE_ASSET.href, media_type: EXAMPLE_ASSET.media_type, roles: EXAMPLE_ASSET.roles }],
    },
    output: EXAMPLE_ITEM,
  },
}).handle({
  async check({ db, principal, raster }, input) {
    const project = projects.requireActive(await projects.requireRole(db, principal, input.project_id, 'editor'))
    if (input.collection_id != null) await collections.requireIn(db, project.id, input.collection_id)
    await requireOrigins(db, project, input)
    const keys = (input.assets ?? []).map(({ key }) => key)
    if (new Set(keys).size < keys.length) throw invalidField('assets', 'must not have two assets with the same key')
    const time = (field: 'datetime' | 'start_datetime' | 'end_datetime') =>
      input[field] == null ? null : parseInstant(input[field], field)
    const [datetime, startDatetime, endDatetime] = [time('datetime'), time('start_datetime'), time('end_datetime')]
    itemWrite.requireInterval(startDatetime, endDatetime)
    const properties = requireProperties(input.properties ?? {})
    const id = newId()
    const item: itemWrite.NewItem = {
      id,
      collectionId: input.collection_id ?? null,
      stacId: input.stac_id ?? id,
      type: input.type,
      name: input.name,
      description: input.description ?? null,
      ...placeOf(input.geometry ?? null, input.bbox ?? null),
      datetime,
      startDatetime,
      endDatetime,
      cloudCover: input.cloud_cover ?? itemWrite.cloudCoverIn(properties),
      gsd: input.gsd ?? itemWrite.gsdIn(properties),
      properties,
      stacExtensions: input.stac_extensions ?? [],
      orderId: input.order_id ?? null,
      uploadId: input.upload_id ?? null,
      jobId: input.job_id ?? null,
      assets: (input.assets ?? []).map((asset, index) => ({
        id: newId(),
        key: asset.key,
        title: asset.title ?? null,
        mediaType: asset.media_type ?? null,
        roles: asset.roles ?? [],
        href: requireHref(asset.href, `assets.${index}.href`, raster),
        fileSizeBytes: null,
        bandNames: null,
        raster: null,
      })),
    }
    return { project, item }
  },
  async execute({ tx, principal, clock, lineage, events, attributeTo }, _input, { project, item }) {
    attributeTo(project.organizationId)
    await projects.lock(tx, project.id)
    if (item.collectionId) await collections.lock(tx, project.id, item.collectionId)
    const [stored] = await itemWrite.insert(
      tx,
      { organizationId: project.organizationId, projectId: project.id, createdBy: principal.userId, now: clock.now() },
      [item],
    )
    lineage.record('item', stored!.id, 'created_in', { kind: 'project', id: project.id })
    events.emit('item.created', stored!.id, items.summary(stored!))
    return toRecord(stored!)
  },
})
