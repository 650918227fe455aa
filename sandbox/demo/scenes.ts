/** The scenes of the demo project: one place in three seasons, a town from close by, and mountains by their height. */
import { describeScene, type SceneDescription, type SceneRequest } from '../scenes/index.ts'

export interface DemoScene {
  readonly name: string
  readonly description: string
  /** Key of the collection that it goes to. */
  readonly collection: 'seasons' | 'close' | 'heights'
  readonly scene: SceneDescription
  /** One range for all three bands keeps the colours of the ground; each band by itself would not. */
  readonly look: { readonly bands: readonly number[]; readonly rescale: string } | null
}

export const COLLECTIONS = {
  seasons: { name: 'Seasons', description: 'One place through a year, ten metres a pixel, twelve bands', color: '#2f9e44', layer_order: 1 },
  close: { name: 'Close up', description: 'Half a metre a pixel: houses, trees and cars', color: '#e8590c', layer_order: 2 },
  heights: { name: 'Elevation', description: 'Heights above the sea, thirty metres a pixel', color: '#7048e8', layer_order: 0 },
} as const

const LAKE = { sensor: 'sandbox-open', longitude: 2.3, latitude: 48.2, sizePx: 640 } as const

const LAKE_LOOK = { bands: [4, 3, 2], rescale: '100,2000' } as const
const VILLAGE_LOOK = { bands: [3, 2, 1], rescale: '100,3000' } as const

const scene = (request: SceneRequest): SceneDescription => describeScene(request)

export const SCENES: readonly DemoScene[] = [
  {
    name: 'Lake and fields, June',
    description: 'Crops stand green around the lake',
    collection: 'seasons',
    scene: scene({ ...LAKE, datetime: '2025-06-12T10:40:00Z' }),
    look: LAKE_LOOK,
  },
  {
    name: 'Lake and fields, October',
    description: 'The harvest is in, the forest turns',
    collection: 'seasons',
    scene: scene({ ...LAKE, datetime: '2025-10-12T10:40:00Z' }),
    look: LAKE_LOOK,
  },
  {
    name: 'Lake and fields, February',
    description: 'Bare fields under a low sun',
    collection: 'seasons',
    scene: scene({ ...LAKE, datetime: '2025-02-12T10:40:00Z' }),
    look: LAKE_LOOK,
  },
  {
    name: 'Village at the lake',
    description: 'Houses, gardens and cars of a village',
    collection: 'close',
    scene: scene({ sensor: 'sandbox-vhr', longitude: 2.3, latitude: 48.2, datetime: '2025-06-12T10:40:00Z', sizePx: 768 }),
    look: VILLAGE_LOOK,
  },
  {
    name: 'Mountains',
    description: 'Ridges and valleys by their height',
    collection: 'heights',
    scene: scene({ sensor: 'sandbox-dem', longitude: 9.5, latitude: 46.6, datetime: '2025-01-01T00:00:00Z', sizePx: 768 }),
    look: null,
  },
]
