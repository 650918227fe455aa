/** Mosaics: one layer of many scenes, registered by URL, with the source of each pixel if known. */
import { newId } from '#core/ids.ts'
import { invalidField } from '#core/problem.ts'
import type { NewAsset } from './asset.ts'
import { boxesOf, rectangle, requireBbox, type Bbox } from './footprint.ts'
import { placeOf } from './item-place.ts'
import * as itemWrite from './item-write.ts'

/** The default collection for mosaics. Found by its key, so it can be renamed. */
export const MOSAICS = { systemKey: 'mosaics', name: 'Mosaics' }

/** Up to this many scenes, the lookup is in the item; beyond that, it is a file. */
const MAX_INLINE_SCENES = 256

const HOME = 'https://stac-extensions.github.io/'
const PROCESSING = `${HOME}processing/v1.1.0/schema.json`
const COG_TYPE = 'image/tiff; application=geotiff; profile=cloud-optimized'
const PARQUET_TYPE = 'application/vnd.apache.parquet'
const JSON_TYPE = 'application/json'

interface Scene {
  value: number
  sceneId: string
  collection: string | null
}

interface Referenced {
  href: string
  roles: readonly string[]
  mediaType: string | null
}

export interface MosaicFields {
  name: string
  description: string | null
  collectionId: string
  method: string
  bbox: readonly number[]
  startDatetime: Date
  endDatetime: Date
  sourceCollections: readonly string[]
  sourceSceneCount: number | null
  dataType: string | null
  bandCount: number
  bandRoles: Readonly<Record<string, number>> | null
  data: Referenced
  provenance: Referenced | null
  lookup: readonly Scene[] | null
  lookupAsset: Referenced | null
  manifest: Referenced | null
  jobId: string | null
}

/** Validates the three layers: the lookup is either inline or a file, never both. */
export function requireLayers({
  provenance,
  lookup,
  lookupAsset,
  sourceSceneCount,
  bandRoles,
  bandCount,
}: Omit<MosaicFields, 'collectionId'>): void {
  const scenes = sourceSceneCount ?? lookup?.length ?? 0
  if ((lookup || lookupAsset) && !provenance)
    throw invalidField(lookup ? 'source_lookup' : 'source_lookup_asset', 'requires a provenance_asset, whose values it maps to scenes')
  if (lookup && sourceSceneCount !== null && lookup.length !== sourceSceneCount)
    throw invalidField('source_lookup', `has ${lookup.length} scenes, but source_scene_count is ${sourceSceneCount}`)
  if (provenance && scenes > MAX_INLINE_SCENES && !lookupAsset)
    throw invalidField(
      'source_lookup_asset',
      `is required for more than ${MAX_INLINE_SCENES} scenes, because the lookup is then a separate file`,
    )
  if (lookup && lookupAsset && scenes <= MAX_INLINE_SCENES)
    throw invalidField('source_lookup_asset', `cannot be combined with source_lookup for ${MAX_INLINE_SCENES} scenes or fewer`)
  const values = new Set(lookup?.map(({ value }) => value))
  if (lookup && values.size < lookup.length) throw invalidField('source_lookup', 'must not repeat a value')
  const outside = Object.entries(bandRoles ?? {}).find(([, index]) => index > bandCount)
  if (outside) throw invalidField(`band_roles.${outside[0].slice(0, 60)}`, `is band ${outside[1]}, but the mosaic has ${bandCount} bands`)
}

export function toItem(fields: MosaicFields): itemWrite.NewItem {
  const id = newId()
  const bbox = requireBbox(fields.bbox, 'bbox')
  itemWrite.requireInterval(fields.startDatetime, fields.endDatetime)
  return {
    ...placeOf(areaWithin(bbox), bbox),
    id,
    collectionId: fields.collectionId,
    stacId: id,
    type: 'mosaic',
    name: fields.name,
    description: fields.description,
    datetime: null,
    startDatetime: fields.startDatetime,
    endDatetime: fields.endDatetime,
    cloudCover: null,
    gsd: null,
    properties: propertiesOf(fields),
    // Raster and classification extensions are declared if the layers need them.
    stacExtensions: [PROCESSING],
    orderId: null,
    uploadId: null,
    jobId: fields.jobId,
    assets: assetsOf(fields),
  }
}

function areaWithin(bbox: Bbox) {
  const polygons = boxesOf(bbox).map((box) => {
    const ring = rectangle(box)
    return [[...ring, ring[0]!]]
  })
  return polygons.length === 1 ? { type: 'Polygon', coordinates: polygons[0] } : { type: 'MultiPolygon', coordinates: polygons }
}

type Described = Pick<
  MosaicFields,
  'name' | 'method' | 'sourceCollections' | 'sourceSceneCount' | 'dataType' | 'bandCount' | 'bandRoles' | 'lookup'
>

/** Properties that describe an item as a mosaic, whether it was registered or created by a job. */
export function propertiesOf(fields: Described): Record<string, unknown> {
  const count = fields.sourceSceneCount ?? fields.lookup?.length ?? null
  const roles = fields.bandRoles ?? (fields.bandCount === 3 ? { RED: 1, GREEN: 2, BLUE: 3 } : null)
  return {
    'svc:mosaic_name': fields.name,
    'svc:mosaic_method': fields.method,
    'svc:source_collections': [...fields.sourceCollections],
    ...(count === null ? {} : { 'svc:source_scene_count': count }),
    'svc:data_type': fields.dataType,
    ...(roles ? { band_roles: roles } : {}),
    'processing:lineage': `Mosaic (${fields.method}) of ${count ?? 'some'} scenes from ${fields.sourceCollections.join(', ')}`,
  }
}

function assetsOf(fields: MosaicFields): NewAsset[] {
  const { data, provenance, lookup, lookupAsset, manifest } = fields
  const isInline = lookup !== null && lookup.length <= MAX_INLINE_SCENES
  return [
    referenced('data', data, { roles: ['data'], mediaType: COG_TYPE }, { stac_bands: statedBands(fields.bandCount) }),
    ...(provenance
      ? [
          referenced(
            'provenance',
            provenance,
            { roles: ['data', 'provenance'], mediaType: COG_TYPE },
            {
              stac: { 'raster:bands': [{ sampling: 'area' }], ...(isInline ? classesOf(lookup) : {}) },
            },
          ),
        ]
      : []),
    ...(lookupAsset
      ? [referenced('source_lookup', lookupAsset, { roles: ['metadata', 'source-lookup'], mediaType: JSON_TYPE }, null)]
      : []),
    ...(manifest
      ? [referenced('source_manifest', manifest, { roles: ['metadata', 'source-manifest'], mediaType: PARQUET_TYPE }, null)]
      : []),
  ]
}

/** The number of bands is known, their names are not. */
const statedBands = (count: number) => Array.from({ length: count }, () => ({ name: null, commonName: null, dataType: null }))

function referenced(
  key: string,
  { href, roles, mediaType }: Referenced,
  standard: { roles: readonly string[]; mediaType: string },
  raster: Record<string, unknown> | null,
): NewAsset {
  return {
    id: newId(),
    key,
    title: null,
    mediaType: mediaType ?? standard.mediaType,
    roles: [...new Set([...standard.roles, ...roles])],
    href,
    fileSizeBytes: null,
    bandNames: null,
    raster,
  }
}

/** Which pixel value is which scene, as STAC classes. */
export const classesOf = (lookup: readonly Scene[]) => ({ 'classification:classes': lookup.map(toClass) })

/** A class name can only contain letters, digits, `-` and `_`; the description has the scene's own name. */
function toClass({ value, sceneId, collection }: Scene) {
  return {
    value,
    name: sceneId.replaceAll(/[^0-9A-Za-z_-]/g, '_'),
    description: collection === null ? sceneId : `${collection}/${sceneId}`,
  }
}
