/** Chosen scenes as a draft keeps them, and back. */
import type { Input, Output } from '../api/contract.ts'
import { boxOf, boxPolygon, type AreaShape } from '../map/geo.ts'
import type { ChosenScene } from './cart.ts'

type NewCapture = Input<'orders.drafts.save'>['captures'][number]
export type DraftCapture = NonNullable<Output<'orders.drafts.get'>['draft']>['captures'][number]

/** What a draft keeps of one scene; the service keeps at most 4,096. */
const MAX_CHARACTERS = 4_000

/** A footprint with many points is kept as its bounding box: it only shows where the scene is. */
function sceneOf({ area: _area, ...scene }: ChosenScene): Record<string, unknown> {
  if (JSON.stringify(scene).length <= MAX_CHARACTERS) return { ...scene }
  const box = boxOf(scene.geometry)
  const small = { ...scene, bands: [], geometry: box && boxPolygon(box) }
  return JSON.stringify(small).length <= MAX_CHARACTERS ? small : { key: scene.key, datetime: scene.datetime, geometry: small.geometry }
}

export const captureFrom = (scene: ChosenScene, quotedCredits: number | null = null): NewCapture => ({
  id: scene.id,
  host: scene.host,
  geometry: scene.area ? { ...scene.area } : null,
  scene: sceneOf(scene),
  quoted_credits: quotedCredits,
})

const UNKNOWN: Omit<ChosenScene, 'key' | 'id' | 'host' | 'source' | 'label' | 'title' | 'area'> = {
  kind: 'catalog',
  sensor: null,
  collection: null,
  isSimulated: false,
  tiles: null,
  terms: { licence: null, url: null, attribution: null },
  isForSale: true,
  product: null,
  hasListPrice: false,
  datetime: null,
  cloud: null,
  gsd: null,
  geometry: null,
  covered: null,
  creditsPerKm2: null,
  priceError: null,
  thumbnail: null,
  quicklook: null,
  offNadir: null,
  sunElevation: null,
  bands: [],
}

/** Pictures are requested with the token of the session: only from this service. */
const ownPath = (path: unknown): string | null => (typeof path === 'string' && /^\/(?!\/)/.test(path) ? path : null)

/** A draft that another client saved may have nothing but the ID of the scene. */
export const chosenFrom = ({ id, host, geometry, scene }: DraftCapture): ChosenScene => ({
  ...UNKNOWN,
  source: host,
  label: host,
  title: id,
  ...(scene as Partial<ChosenScene>),
  tiles: ownPath(scene['tiles']),
  thumbnail: ownPath(scene['thumbnail']),
  quicklook: ownPath(scene['quicklook']),
  key: `${host}/${id}`,
  id,
  host,
  area: geometry as unknown as AreaShape | null,
})
