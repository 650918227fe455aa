/** The scenes of a host: searched by place and day, described once, known by the host's own ids. */
import { setImmediate } from 'node:timers/promises'
import { clipToConvex } from '#core/area.ts'
import type { AreaGeometry, Position } from '#core/geometry.ts'
import { DAY_MS } from '#core/time.ts'
import {
  acquisitionOf,
  acquisitionsFor,
  describeScene,
  scenesFor,
  type PlanPlace,
  type SceneDescription,
  type SceneQuery,
  type SensorId,
} from '../scenes/index.ts'
import { polygonsOf } from '../scenes/footprint.ts'
import type { SandboxHost } from './hosts.ts'

export interface LibraryQuery {
  readonly bbox?: readonly [number, number, number, number]
  readonly intersects?: AreaGeometry
  readonly ids?: readonly string[]
  readonly from: Date | null
  readonly to: Date | null
  readonly accepts: (cloudCover: number | null) => boolean
  readonly limit: number
  readonly after?: PlanPlace
}

interface LibraryPage {
  readonly scenes: readonly SceneDescription[]
  /** Null when the search is complete. */
  readonly next: PlanPlace | null
}

const ARCHIVE_YEARS = 5
/** Maximum scenes that one request checks; the next page continues. */
const MAX_EXAMINED = 600
/** Scenes between two yields to the event loop. */
const SCENES_PER_TURN = 4
const MAX_REMEMBERED = 3_000

export class Library {
  readonly #host: SandboxHost
  readonly #sensor: SensorId
  readonly #now: () => Date
  readonly #known = new Map<string, SceneDescription>()

  constructor(host: SandboxHost & { sensor: SensorId }, now: () => Date) {
    this.#host = host
    this.#sensor = host.sensor
    this.#now = now
  }

  async search(query: LibraryQuery): Promise<LibraryPage> {
    const plan = this.#planQuery(query)
    if (!plan) return { scenes: [], next: null }
    const scenes: SceneDescription[] = []
    let examined = 0
    for (const { acquisition, place } of acquisitionsFor(plan, query.after)) {
      if (acquisition.datetime > this.#now()) continue
      const scene = this.#describe(acquisition.id, () => describeScene(acquisition))
      if (query.accepts(scene.cloudCover) && (!query.intersects || sharedArea(scene, query.intersects))) scenes.push(scene)
      if (scenes.length >= query.limit || ++examined >= MAX_EXAMINED) return { scenes, next: place }
      if (examined % SCENES_PER_TURN === 0) await setImmediate()
    }
    return { scenes, next: null }
  }

  /** Null: no such scene, or one that has not been acquired yet. */
  scene(id: string): SceneDescription | null {
    const inner = this.#innerId(id)
    const acquisition = inner === null ? null : acquisitionOf(inner)
    if (!acquisition || acquisition.sensor !== this.#sensor || !this.#isKept(acquisition.datetime)) return null
    return this.#describe(acquisition.id, () => describeScene(acquisition))
  }

  /** A scene of a day that shows a place. */
  sceneAt([longitude, latitude]: Position, day: string): SceneDescription | null {
    const [scene] = scenesFor({ sensor: this.#sensor, bbox: [longitude, latitude, longitude, latitude], from: day, to: `${day}T23:59:59Z` })
    return scene ? this.#describe(scene.id, () => scene) : null
  }

  #describe(id: string, describe: () => SceneDescription): SceneDescription {
    const known = this.#known.get(id)
    if (known) return known
    const scene = describe()
    const named = { ...scene, id: id.replace(this.#sensor, this.#host.name) }
    if (this.#known.size >= MAX_REMEMBERED) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(id, named)
    return named
  }

  #innerId(id: string): string | null {
    return id.startsWith(`${this.#host.name}_`) ? id.replace(this.#host.name, this.#sensor) : null
  }

  #oldest(): Date {
    return new Date(this.#now().getTime() - (ARCHIVE_YEARS * 365.25 + (this.#sensor === 'sandbox-dem' ? 365 : 0)) * DAY_MS)
  }

  #isKept(datetime: Date): boolean {
    return datetime <= this.#now() && datetime >= this.#oldest()
  }

  #planQuery(query: LibraryQuery): SceneQuery | null {
    const from = new Date(Math.max(query.from?.getTime() ?? 0, this.#oldest().getTime()))
    const to = new Date(Math.min(query.to?.getTime() ?? Infinity, this.#now().getTime()))
    if (from > to) return null
    const bbox = query.bbox ?? (query.intersects && boxOf(query.intersects))
    const ids = query.ids?.flatMap((id) => this.#innerId(id) ?? [])
    return { sensor: this.#sensor, from, to, ...(bbox ? { bbox } : {}), ...(ids ? { ids } : {}) }
  }
}

function boxOf(area: AreaGeometry): [number, number, number, number] {
  const positions = (area.type === 'Polygon' ? [area.coordinates] : area.coordinates).flat(2)
  const xs = positions.map(([x]) => x)
  const ys = positions.map(([, y]) => y)
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
}

/** The part of an area that a scene shows; null if they do not overlap. */
export function sharedArea(scene: SceneDescription, area: AreaGeometry): AreaGeometry | null {
  const parts = polygonsOf(scene.footprint).flatMap(([ring]) => (ring && clipToConvex(area, ring)) ?? [])
  if (parts.length <= 1) return parts[0] ?? null
  return {
    type: 'MultiPolygon',
    coordinates: parts.flatMap((part) => (part.type === 'Polygon' ? [part.coordinates] : part.coordinates)),
  }
}
