/** Items as searches return them. */
import type { ItemFeature, Output } from '../api/contract.ts'
import { boxOf, type Box } from '../map/geo.ts'

export interface FoundItem {
  /** The ID of the item. Its STAC ID is that of the scene, which several items can hold. */
  id: string
  name: string
  datetime: string | null
  bbox: Box | null
  geometry: GeoJSON.Geometry | null
  properties: Readonly<Record<string, unknown>>
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

export function foundItem({ id: stacId, properties, bbox, geometry }: ItemFeature): FoundItem {
  return {
    id: text(properties['svc:item_id']) ?? stacId,
    name: text(properties['title']) ?? text(properties['svc:name']) ?? stacId,
    datetime: text(properties['datetime']),
    bbox: (bbox as Box | undefined) ?? boxOf(geometry),
    geometry,
    properties,
  }
}

/** None until they are loaded. */
export const itemsIn = (found: Pick<Output<'items.search_org'>, 'features'> | undefined): FoundItem[] =>
  (found?.features ?? []).map(foundItem)
