/** Ground, fields and towns together, for rows of pixels of one resolution. */
import { farmable, yearlyMeanC } from './climate.ts'
import { fractal, levelLimit, points, smooth, toLatitude, type Points } from './noise.ts'
import { ParcelMap } from './parcels.ts'
import { Places } from './places.ts'
import { createTerrain, ground, type Ground, type Terrain } from './terrain.ts'

export interface World {
  readonly limit: number
  readonly terrain: Terrain
  readonly parcels: ParcelMap
  readonly towns: Places
  readonly villages: Places
  /** How much of each place is farmed, ignoring blocks: for pixels larger than those. */
  readFarmed(out: Float64Array, at: Points, ground: Ground): void
}

const TASTE = { from: 10, to: 15, seed: 300, gain: 0.42, roughness: 0.6 } as const
/** Detail needed for decisions about whole blocks and towns. */
const DECISION_LEVEL = 16
const TOWNS = { level: 13, seed: 500, share: 0.75, radiusM: [260, 1900], roadHalfWidthM: 5.5 } as const
const VILLAGES = { level: 15, seed: 550, share: 0.5, radiusM: [45, 230], roadHalfWidthM: 2.6 } as const

export function createWorld(capacity: number, gsdM: number, latitude: number): World {
  const limit = levelLimit(gsdM, latitude)
  const look = landReader()
  return {
    limit,
    terrain: createTerrain(capacity, limit),
    parcels: new ParcelMap(capacity, (u, v) => look(u, v).farmed),
    towns: new Places(capacity, { ...TOWNS, suits: (u, v) => look(u, v).livable }),
    villages: new Places(capacity, { ...VILLAGES, suits: (u, v) => look(u, v).livable * look(u, v).farmed }),
    readFarmed(out, at, ground) {
      fractal(out, at, TASTE, limit)
      for (let i = 0; i < at.count; i++) out[i] = farmedShare(ground, i, toLatitude(at.v[i]!), out[i]!)
    },
  }
}

interface Land {
  farmed: number
  livable: number
}

function landReader(): (u: number, v: number) => Land {
  const terrain = createTerrain(1, DECISION_LEVEL)
  const at = points(1)
  const sample = ground(1)
  const taste = new Float64Array(1)
  at.count = 1
  return (u, v) => {
    at.u[0] = u
    at.v[0] = v
    terrain.read(sample, at)
    if (sample.coast[0]! < 0.0004 || sample.streamEdgeM[0]! < 15) return { farmed: 0, livable: 0 }
    fractal(taste, at, TASTE, DECISION_LEVEL)
    const yearlyC = yearlyMeanC(toLatitude(v), sample.heightM[0]!)
    const good = farmable(yearlyC, sample.wetness[0]!, sample.rugged[0]!)
    const livable = smooth(-5, 3, yearlyC) * smooth(0.06, 0.3, sample.wetness[0]!) * (1 - smooth(0.35, 0.9, sample.rugged[0]!))
    return { farmed: farmedShare(sample, 0, toLatitude(v), taste[0]!), livable: livable * (0.35 + 0.65 * good) }
  }
}

function farmedShare({ coast, streamEdgeM, heightM, wetness, rugged }: Ground, i: number, latitude: number, taste: number): number {
  if (coast[i]! < 0.0004 || streamEdgeM[i]! < 15) return 0
  const good = farmable(yearlyMeanC(latitude, heightM[i]!), wetness[i]!, rugged[i]!)
  return good <= 0.02 ? 0 : smooth(0.3, 0.62, 0.62 * good + taste)
}
