/** Mosaics: one layer of many scenes, registered by address, with what is known of where each pixel comes from. */
import { newId } from '#core/ids.ts'
import { invalidField } from '#core/problem.ts'
import type { NewAsset } from './asset.ts'
import { boxesOf, rectangle, requireBbox, type Bbox } from './footprint.ts'
import { placeOf } from './item-place.ts'
import * as itemWrite from './item-write.ts'

/** Where mosaics of a project lie unless they are told otherwise. Found by its key, so renaming it loses nothing. */
export const MOSAICS = { systemKey: 'mosaics', name: 'Mosaics' }

/** Up to this many scenes the lookup stands in the item itself; beyond, it is a file beside it. */
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

/** The rules of the three layers; afterwards the lookup is inline or beside the item, never both. */
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
    throw invalidField(lookup ? 'source_lookup' : 'source_lookup_asset', 'says which scene a pixel is from, so it needs a provenance_asset')
  if (lookup && sourceSceneCount !== null && lookup.length !== sourceSceneCount)
    throw invalidField('source_lookup', `has ${lookup.length} scenes where source_scene_count says ${sourceSceneCount}`)
  if (provenance && scenes > MAX_INLINE_SCENES && !lookupAsset)
    throw invalidField(
      'source_lookup_asset',
      `is needed for more than ${MAX_INLINE_SCENES} scenes: the lookup is then a file beside the item`,
    )
  if (lookup && lookupAsset && scenes <= MAX_INLINE_SCENES)
    throw invalidField('source_lookup_asset', `cannot stand beside source_lookup for ${MAX_INLINE_SCENES} scenes or fewer`)
  const values = new Set(lookup?.map(({ value }) => value))
  if (lookup && values.size < lookup.length) throw invalidField('source_lookup', 'has the same value twice')
  const outside = Object.entries(bandRoles ?? {}).find(([, index]) => index > bandCount)
  if (outside) throw invalidField(`band_roles.${outside[0].slice(0, 60)}`, `is band ${outside[1]} of a mosaic with ${bandCount}`)
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
    // Those of raster and classification follow from the layers that there are.
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

/** What an item says of the mosaic that it is, whether its files lie elsewhere or a job of ours made them. */
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

/** How many there are; their names nobody has told. */
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

/** Which number in the pixels is which scene, in the words of STAC. */
export const classesOf = (lookup: readonly Scene[]) => ({ 'classification:classes': lookup.map(toClass) })

/** A class's name takes letters, digits, `-` and `_` only; the scene as it is called stands in the description. */
function toClass({ value, sceneId, collection }: Scene) {
  return {
    value,
    name: sceneId.replaceAll(/[^0-9A-Za-z_-]/g, '_'),
    description: collection === null ? sceneId : `${collection}/${sceneId}`,
  }
}
