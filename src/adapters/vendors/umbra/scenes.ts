/** Scenes of Umbra's archive by ID: those that a search found recently need no further request. */
import { LRUCache } from 'lru-cache'
import type { CallOptions } from '#ports/vendors/call.ts'
import type { Scene, VendorCatalog } from '#ports/vendors/catalog.ts'

const MAX_SCENES = 2_000
const FRESH_MS = 10 * 60_000
/** IDs in one request. */
const BATCH = 100

export interface Scenes {
  keep(scenes: readonly Scene[]): void
  /** Without those that Umbra does not have. */
  find(ids: readonly string[], options: CallOptions): Promise<ReadonlyMap<string, Scene>>
}

export function createScenes(search: VendorCatalog['search']): Scenes {
  const known = new LRUCache<string, Scene>({ max: MAX_SCENES, ttl: FRESH_MS })
  const keep = (scenes: readonly Scene[]): void => {
    for (const scene of scenes) known.set(scene.id, scene)
  }
  return {
    keep,
    async find(ids, options) {
      const found = new Map(ids.flatMap((id) => [known.get(id) ?? []].flat().map((scene) => [id, scene] as const)))
      const missing = [...new Set(ids)].filter((id) => !found.has(id))
      for (let start = 0; start < missing.length; start += BATCH) {
        const part = missing.slice(start, start + BATCH)
        const { scenes } = await search({ ids: part, limit: part.length }, options)
        keep(scenes)
        for (const scene of scenes) found.set(scene.id, scene)
      }
      return found
    },
  }
}
