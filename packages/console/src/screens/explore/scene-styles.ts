/** How an open scene can be shown on the map before it is saved: what the bands of its collection allow. */
import type { Output, SourceCollection } from '../../api/contract.ts'

export interface SceneStyle {
  /** ID of a visualization. */
  id: string
  label: string
}

type Visualizations = Pick<Output<'visualization.list_for'>, 'default_id'> & { visualizations: readonly SceneStyle[] }

const USUAL: readonly SceneStyle[] = [
  { id: 'rgb', label: 'True colour' },
  { id: 'cir', label: 'False colour' },
  { id: 'ndvi', label: 'NDVI' },
]

/** Bands by their role, 1-based, as `visualization.list_for` takes them. */
export const bandRolesOf = (bands: SourceCollection['bands']): Record<string, number> =>
  Object.fromEntries(bands.map(({ name, role }, index) => [role ?? name, index + 1]))

/** True colour, false colour and NDVI, as far as the bands allow them; otherwise the default, such as elevation. */
export function stylesOf({ visualizations, default_id }: Visualizations): readonly SceneStyle[] {
  const usual = USUAL.filter(({ id }) => visualizations.some((visualization) => visualization.id === id))
  return usual.length > 0 ? usual : visualizations.filter(({ id }) => id === default_id).map(({ id, label }) => ({ id, label }))
}

/** A path can have a query already. */
export const tilesIn = (path: string, { id }: SceneStyle): string =>
  `${location.origin}${path}${path.includes('?') ? '&' : '?'}visualization=${encodeURIComponent(id)}`

const EQUATOR_M_PER_PX = 156_543.034
const MAX_ZOOM = 22
const UNKNOWN_GSD_M = 10

/** The zoom level of tiles at full resolution. Further in, the map enlarges them. */
export function fullResolutionZoom(gsdM: number | null, latitude: number): number {
  const perPixel = EQUATOR_M_PER_PX * Math.cos((Math.min(85, Math.abs(latitude)) * Math.PI) / 180)
  return Math.max(0, Math.min(MAX_ZOOM, Math.ceil(Math.log2(perPixel / (gsdM && gsdM > 0 ? gsdM : UNKNOWN_GSD_M)))))
}
