/** The scenes of the demo project: one area in three seasons, a town at high resolution, and mountain elevation. */
import { describeScene, type SceneDescription, type SceneRequest } from '../scenes/index.ts'

export interface DemoScene {
  readonly name: string
  readonly description: string
  /** Key of its collection. */
  readonly collection: 'seasons' | 'close' | 'heights'
  readonly scene: SceneDescription
  /** One range for all three bands preserves the colours; a range per band would not. */
  readonly look: { readonly bands: readonly number[]; readonly rescale: string } | null
}

export const COLLECTIONS = {
  seasons: { name: 'Seasons', description: 'One area through the year, 10 m/px, twelve bands', color: '#2f9e44', layer_order: 1 },
  close: { name: 'Close up', description: '0.5 m/px: houses, trees and cars', color: '#e8590c', layer_order: 2 },
  heights: { name: 'Elevation', description: 'Height above sea level, 30 m/px', color: '#7048e8', layer_order: 0 },
} as const

const LAKE = { sensor: 'sandbox-open', longitude: 2.3, latitude: 48.2, sizePx: 640 } as const

const LAKE_LOOK = { bands: [4, 3, 2], rescale: '100,2000' } as const
const VILLAGE_LOOK = { bands: [3, 2, 1], rescale: '100,3000' } as const

const scene = (request: SceneRequest): SceneDescription => describeScene(request)

export const SCENES: readonly DemoScene[] = [
  {
    name: 'Lake and fields, June',
    description: 'Green crops around the lake',
    collection: 'seasons',
    scene: scene({ ...LAKE, datetime: '2025-06-12T10:40:00Z' }),
    look: LAKE_LOOK,
  },
  {
    name: 'Lake and fields, October',
    description: 'After the harvest, with autumn forest',
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
    description: 'A village with houses, gardens and cars',
    collection: 'close',
    scene: scene({ sensor: 'sandbox-vhr', longitude: 2.3, latitude: 48.2, datetime: '2025-06-12T10:40:00Z', sizePx: 768 }),
    look: VILLAGE_LOOK,
  },
  {
    name: 'Mountains',
    description: 'Ridges and valleys, coloured by elevation',
    collection: 'heights',
    scene: scene({ sensor: 'sandbox-dem', longitude: 9.5, latitude: 46.6, datetime: '2025-01-01T00:00:00Z', sizePx: 768 }),
    look: null,
  },
]
