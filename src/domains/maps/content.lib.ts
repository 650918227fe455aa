/** Checks of a map's layers, groups and annotations that a schema cannot express. */
import type { Static } from 'typebox'
import { requireGeometry, type Geometry } from '#core/geometry.ts'
import { newId } from '#core/ids.ts'
import { mapInTime } from '#core/in-parts.ts'
import { invalidField } from '#core/problem.ts'
import type { MapAnnotation, MapFeature, MapGroup, MapLayer, MapLayerStyle, SavedMap } from '#model/imagery/map.ts'
import * as maps from '#model/imagery/map.ts'
import type { Context } from '#operation.ts'
import { rejectSavedProfile } from '#services/rendering/collection.ts'
import { choiceOf } from '#services/rendering/styled-layer.ts'
import { MAX_FEATURES, type NewAnnotation, type NewLayer } from './wire.ts'

/** In all vector layers and annotations of a map, so that any browser draws it at once. */
const MAX_POSITIONS = 50_000

type GivenLayer = Static<typeof NewLayer>
type GivenAnnotation = Static<typeof NewAnnotation>

/** The layers as they are stored. Imagery must be in the project of the map, unless the map had it before. */
export async function layersOf(
  db: Context['db'],
  map: Pick<SavedMap, 'organizationId' | 'projectId'> & { content?: SavedMap['content'] },
  given: readonly GivenLayer[],
): Promise<MapLayer[]> {
  const layers = await mapInTime(given, layerOf)
  requireDistinct(layers, 'layers')
  const featureCount = layers.reduce((sum, { features }) => sum + (features?.length ?? 0), 0)
  if (featureCount > MAX_FEATURES) throw invalidField('layers', `have ${featureCount} shapes; the maximum is ${MAX_FEATURES}`)
  const { items, collections } = await maps.sourcesOf(db, map, layers)
  const before = map.content?.layers ?? []
  for (const [index, { item_id, collection_id }] of layers.entries()) {
    const isKnown = before.some((each) => each.item_id === item_id && each.collection_id === collection_id)
    if (isKnown) continue
    if (item_id !== null && !items.has(item_id)) throw invalidField(`layers.${index}.item_id`, 'is not an item of this project')
    if (collection_id !== null && !collections.has(collection_id))
      throw invalidField(`layers.${index}.collection_id`, 'is not a collection of this project')
  }
  return layers
}

function layerOf(given: GivenLayer, index: number): MapLayer {
  const field = `layers.${index}`
  const { item_id = null, collection_id = null, features = null } = given
  if ([item_id, collection_id, features].filter((source) => source !== null).length !== 1)
    throw invalidField(field, 'must have exactly one of item_id, collection_id and features')
  const style = styleOf(given.style ?? null, field)
  if (features !== null && style !== null) throw invalidField(`${field}.style`, 'applies to imagery; a vector layer has a color')
  if (collection_id !== null && style !== null) rejectSavedProfile(style)
  return {
    id: given.id?.toLowerCase() ?? newId(),
    item_id,
    collection_id: collection_id?.toLowerCase() ?? null,
    features: features && features.map((feature, at) => featureOf(feature, `${field}.features.${at}`)),
    name: given.name?.trim() ?? null,
    group_id: given.group_id?.toLowerCase() ?? null,
    visible: given.visible ?? true,
    opacity: given.opacity ?? 1,
    blend: given.blend ?? 'normal',
    color: given.color ?? null,
    style,
  }
}

function styleOf(given: GivenLayer['style'] | null, field: string): MapLayerStyle | null {
  if (given == null) return null
  const { profile = null, asset_key = null, bands = null, expression = null, colormap = null, rescale = null } = given
  if (profile !== null && (bands !== null || expression !== null))
    throw invalidField(`${field}.style.profile`, 'cannot be combined with bands or expression')
  const style = { profile, asset_key, bands, expression, colormap, rescale }
  choiceOf(style)
  return Object.values(style).every((value) => value === null) ? null : style
}

const featureOf = ({ name, geometry }: { name?: string | null; geometry: unknown }, field: string): MapFeature => ({
  name: name?.trim() || null,
  geometry: requireShape(geometry, `${field}.geometry`),
})

/** Drawn as it is, so areas need not be valid; only their form and coordinates are checked. */
function requireShape(value: unknown, field: string): Geometry {
  const { type, coordinates } = value as { type?: unknown; coordinates?: unknown }
  const depth = DEPTHS[String(type)]
  if (depth === undefined) throw invalidField(field, 'must be a GeoJSON geometry other than a GeometryCollection')
  requirePositions(coordinates, depth, field)
  return { type, coordinates } as Geometry
}

const DEPTHS: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
}

function requirePositions(value: unknown, depth: number, field: string): void {
  if (!Array.isArray(value) || value.length === 0) throw invalidField(field, 'must have coordinates')
  if (depth > 0) {
    for (const each of value as unknown[]) requirePositions(each, depth - 1, field)
    return
  }
  const [longitude, latitude] = value as unknown[]
  if (value.length < 2 || value.length > 3 || !(value as unknown[]).every((part) => Number.isFinite(part)))
    throw invalidField(field, 'must only have positions of the form [longitude, latitude]')
  if (Math.abs(longitude as number) > 180 || Math.abs(latitude as number) > 90)
    throw invalidField(field, 'must be in WGS 84: longitudes from -180 to 180 and latitudes from -90 to 90')
}

export async function annotationsOf(given: readonly GivenAnnotation[]): Promise<MapAnnotation[]> {
  const annotations = await mapInTime(given, ({ id, geometry, text, color }, index) => ({
    id: id?.toLowerCase() ?? newId(),
    geometry: requireMark(geometry, `annotations.${index}.geometry`),
    text,
    color: color ?? null,
  }))
  requireDistinct(annotations, 'annotations')
  return annotations
}

function requireMark(value: unknown, field: string): Geometry {
  const geometry = requireGeometry(value, field)
  if (geometry.type.startsWith('Multi')) throw invalidField(field, 'must be a Point, LineString or Polygon')
  return geometry
}

/** Of the map as it will be: members of groups that exist, and no more positions than a browser draws at once. */
export function requireWhole(layers: readonly MapLayer[], groups: readonly MapGroup[], annotations: readonly MapAnnotation[]): void {
  requireDistinct(groups, 'groups')
  const known = new Set(groups.map(({ id }) => id))
  for (const [index, { group_id }] of layers.entries())
    if (group_id !== null && !known.has(group_id)) throw invalidField(`layers.${index}.group_id`, 'is not a group of this map')
  const shapes = [...layers.flatMap(({ features }) => features ?? []), ...annotations]
  const positions = shapes.reduce((sum, { geometry }) => sum + countPositions(geometry.coordinates), 0)
  if (positions > MAX_POSITIONS)
    throw invalidField('layers', `and annotations have ${positions} positions together; the maximum is ${MAX_POSITIONS}`)
}

const countPositions = (coordinates: unknown): number => {
  const list = coordinates as unknown[]
  return Array.isArray(list[0]) ? list.reduce<number>((sum, each) => sum + countPositions(each), 0) : 1
}

function requireDistinct(list: readonly { id: string }[], field: string): void {
  const seen = new Set<string>()
  for (const [index, { id }] of list.entries()) {
    if (seen.has(id)) throw invalidField(`${field}.${index}.id`, 'is used twice in this map')
    seen.add(id)
  }
}

export const groupsOf = (given: readonly MapGroup[]): MapGroup[] =>
  given.map(({ id, name, visible }) => ({ id: id.toLowerCase(), name: name.trim(), visible }))
