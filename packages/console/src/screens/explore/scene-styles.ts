/** How an open scene can be shown on the map before it is saved: what the bands of its collection allow. */
import type { Output, SourceCollection } from '../../api/contract.ts'

export interface SceneStyle {
  /** ID of a visualization; empty for an expression. */
  id: string
  label: string
  expression?: string
  colormap?: string | null
}

type Visualizations = Pick<Output<'visualization.list_for'>, 'default_id'> & {
  visualizations: readonly Pick<SceneStyle, 'id' | 'label'>[]
}

/** Shown first, if the bands allow them. */
const USUAL = ['rgb', 'cir', 'ndvi']
const LABELS: Readonly<Record<string, string>> = { rgb: 'True colour', cir: 'False colour', ndvi: 'NDVI' }

/** Bands by their role, 1-based, as `visualization.list_for` takes them. */
export const bandRolesOf = (bands: SourceCollection['bands']): Record<string, number> =>
  Object.fromEntries(bands.map(({ name, role }, index) => [role ?? name, index + 1]))

/** Everything that the bands allow: true colour, false colour and NDVI, or else the default, such as elevation, come first. */
export function stylesOf({ visualizations, default_id }: Visualizations): readonly SceneStyle[] {
  const rank = (id: string) => (USUAL.includes(id) ? USUAL.indexOf(id) : id === default_id ? USUAL.length : USUAL.length + 1)
  return visualizations.map(({ id, label }) => ({ id, label: LABELS[id] ?? label })).toSorted((a, b) => rank(a.id) - rank(b.id))
}

/** How many styles have a button; the others are in a list. */
export const SHOWN_STYLES = 3

/** A path can have a query already. Without a style, the service uses its default. */
export function tilesIn(path: string, style: SceneStyle | null): string {
  const query = new URLSearchParams(
    style === null
      ? {}
      : style.expression === undefined
        ? { visualization: style.id }
        : { expression: style.expression, ...(style.colormap ? { colormap: style.colormap } : {}) },
  ).toString()
  return `${location.origin}${path}${query && (path.includes('?') ? '&' : '?')}${query}`
}

const EQUATOR_M_PER_PX = 156_543.034
const MAX_ZOOM = 22
const UNKNOWN_GSD_M = 10

/** The zoom level of tiles at full resolution. Further in, the map enlarges them. */
export function fullResolutionZoom(gsdM: number | null, latitude: number): number {
  const perPixel = EQUATOR_M_PER_PX * Math.cos((Math.min(85, Math.abs(latitude)) * Math.PI) / 180)
  return Math.max(0, Math.min(MAX_ZOOM, Math.ceil(Math.log2(perPixel / (gsdM && gsdM > 0 ? gsdM : UNKNOWN_GSD_M)))))
}
