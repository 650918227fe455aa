/** The types of items in words. */
import type { Item } from '../api/contract.ts'

const TYPES: Readonly<Record<Item['type'], string>> = {
  satellite_capture: 'Satellite capture',
  derived_raster: 'Derived raster',
  derived_vector: 'Derived vector',
  clip: 'Clip',
  user_raster: 'Uploaded raster',
  user_vector: 'Uploaded vector',
  external_reference: 'Reference',
  mosaic: 'Mosaic',
}

export const typeText = (type: Item['type']) => TYPES[type]
export const ITEM_TYPES = Object.entries(TYPES).map(([value, text]) => ({ value, text }))
