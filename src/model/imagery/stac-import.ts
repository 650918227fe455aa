/** Converts STAC items of other catalogues, one by one, or explains why one is invalid. */
import { requireBounded } from '#core/bounded.ts'
import { newId } from '#core/ids.ts'
import { parseInstant } from '#core/interval.ts'
import { invalidField } from '#core/problem.ts'
import { ITEM_TYPES, type ItemType } from '#core/vocabulary.ts'
import type { RasterService } from '#ports/raster.ts'
import { requireHref, type NewAsset, type StatedBand } from './asset.ts'
import { requireProperties } from './item-metadata.ts'
import * as items from './item-read.ts'
import { placeOf } from './item-place.ts'
import * as itemWrite from './item-write.ts'
import { fieldsToKeep } from './stac-asset.ts'

type Json = Record<string, unknown>

const MAX_NAME_LENGTH = 500
const MAX_DESCRIPTION_LENGTH = 10_000
const MAX_ASSETS = 100
const MAX_EXTENSIONS = 50
const MAX_BANDS = 256
const MAX_HREF_LENGTH = 2_048
/** Deep enough for a feature and its properties. */
const MAX_FEATURE_DEPTH = 12

/** Properties that have a column; `toFeature` restores them. */
const IN_COLUMNS = new Set(['datetime', 'start_datetime', 'end_datetime', 'eo:cloud_cover', 'gsd', 'title', 'description'])

export function fromFeature(value: unknown, collectionId: string | null, raster: Pick<RasterService, 'canRead'>): itemWrite.NewItem {
  const feature = requireBounded(objectOf(value, 'feature'), 'feature', MAX_FEATURE_DEPTH)
  if (feature['type'] !== 'Feature') throw invalidField('type', "must be 'Feature'")
  const id = textOf(feature['id'], 'id', items.MAX_ID_LENGTH)
  const properties = objectOf(feature['properties'] ?? {}, 'properties')
  const [datetime, startDatetime, endDatetime] = [
    timeOf(properties, 'datetime'),
    timeOf(properties, 'start_datetime'),
    timeOf(properties, 'end_datetime'),
  ]
  itemWrite.requireInterval(startDatetime, endDatetime)
  const kept = requireProperties(Object.fromEntries(Object.entries(properties).filter(([name]) => !IN_COLUMNS.has(name))))
  return {
    id,
    stacId: id,
    collectionId,
    type: typeOf(kept['svc:item_type']),
    name: optionalText(properties['title'], 'properties.title', MAX_NAME_LENGTH) ?? id,
    description: optionalText(properties['description'], 'properties.description', MAX_DESCRIPTION_LENGTH),
    ...placeOf(feature['geometry'] ?? null, boxOf(feature['bbox'])),
    datetime,
    startDatetime,
    endDatetime,
    cloudCover: itemWrite.cloudCoverIn(properties),
    gsd: itemWrite.gsdIn(properties),
    properties: kept,
    stacExtensions: extensionsOf(feature['stac_extensions']),
    orderId: null,
    uploadId: null,
    jobId: null,
    assets: assetsOf(feature['assets'] ?? {}, raster),
  }
}

function objectOf(value: unknown, field: string): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw invalidField(field, 'must be an object')
  return value as Json
}

function textOf(value: unknown, field: string, maxLength: number): string {
  if (typeof value !== 'string' || value.length === 0 || value.length > maxLength)
    throw invalidField(field, `must be a string of 1 to ${maxLength} characters`)
  return value
}

const optionalText = (value: unknown, field: string, maxLength: number): string | null =>
  value === undefined || value === null || value === '' ? null : textOf(value, field, maxLength)

function timeOf(properties: Json, name: string): Date | null {
  const value = properties[name]
  if (value === undefined || value === null) return null
  return parseInstant(textOf(value, `properties.${name}`, 100), `properties.${name}`)
}

const typeOf = (value: unknown): ItemType => ITEM_TYPES.find((type) => type === value) ?? 'external_reference'

/** STAC allows heights in a box; only the horizontal part is kept. */
function boxOf(value: unknown): number[] | null {
  if (value === undefined || value === null) return null
  if (!Array.isArray(value) || (value.length !== 4 && value.length !== 6)) throw invalidField('bbox', 'must have 4 or 6 numbers')
  return value.length === 4 ? value : [value[0], value[1], value[3], value[4]]
}

function extensionsOf(value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || value.length > MAX_EXTENSIONS)
    throw invalidField('stac_extensions', `must be a list of at most ${MAX_EXTENSIONS} URLs`)
  return value.map((each) => textOf(each, 'stac_extensions', 500))
}

function assetsOf(value: unknown, raster: Pick<RasterService, 'canRead'>): NewAsset[] {
  const entries = Object.entries(objectOf(value, 'assets'))
  if (entries.length > MAX_ASSETS) throw invalidField('assets', `must have at most ${MAX_ASSETS} assets`)
  return entries.map(([key, each]) => {
    const asset = objectOf(each, `assets.${key}`)
    const roles = asset['roles'] ?? []
    const size = asset['file:size']
    if (!Array.isArray(roles)) throw invalidField(`assets.${key}.roles`, 'must be a list')
    return {
      id: newId(),
      key: textOf(key, 'assets', 255),
      title: optionalText(asset['title'], `assets.${key}.title`, MAX_NAME_LENGTH),
      mediaType: optionalText(asset['type'], `assets.${key}.type`, 255),
      roles: roles.map((role) => textOf(role, `assets.${key}.roles`, 64)),
      href: requireHref(textOf(asset['href'], `assets.${key}.href`, MAX_HREF_LENGTH), `assets.${key}.href`, raster),
      fileSizeBytes: Number.isSafeInteger(size) && (size as number) >= 0 ? (size as number) : null,
      ...bandsOf(asset),
    }
  })
}

/** STAC 1.1 has everything in `bands`; before, `eo:bands` had the names and `raster:bands` the types, in the same order. */
function bandsOf(asset: Json): Pick<NewAsset, 'bandNames' | 'raster'> {
  const named = listOf(asset['bands'] ?? asset['eo:bands'])
  const typed = listOf(asset['bands'] ?? asset['raster:bands'])
  const count = Math.max(named.length, typed.length)
  const kept = fieldsToKeep(asset)
  if (count === 0 || count > MAX_BANDS) return { bandNames: null, raster: kept && { stac: kept } }
  const stated = Array.from({ length: count }, (_, index): StatedBand => ({
    name: shortText(named[index]?.['name']),
    commonName: shortText(named[index]?.['eo:common_name'] ?? named[index]?.['common_name']),
    dataType: shortText(typed[index]?.['data_type']),
  }))
  const names = stated.map(({ name }) => name)
  return { bandNames: names.every((name) => name !== null) ? names : null, raster: { stac_bands: stated, ...(kept ? { stac: kept } : {}) } }
}

const listOf = (value: unknown): Json[] =>
  Array.isArray(value) ? value.map((each: unknown) => (each !== null && typeof each === 'object' ? (each as Json) : {})) : []
const shortText = (value: unknown): string | null => (typeof value === 'string' && value.length > 0 && value.length <= 100 ? value : null)
