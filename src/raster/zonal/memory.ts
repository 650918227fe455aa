/** Shared by the rasters of a series: the same zones on the same grid, and the same expression over the same bands. */
import { LRUCache } from 'lru-cache'
import type { CompiledExpression } from '#raster/expression/index.ts'
import type { Level, RasterInfo } from '#raster/types.ts'
import { planZones, type ZonePlan } from './zones.ts'

/** Coverage of more cells than this is computed again for each raster. */
export const MAX_KEPT_CELLS = 2 ** 20
/** A series has scenes of a few sensors and paths; the grids used last are kept. */
const MAX_KEPT = 16

/** For one set of zones, names and scales; never shared between two requests. */
export class ZonalMemory {
  readonly #plans = new LRUCache<string, ZonePlan>({ max: MAX_KEPT })
  readonly #expressions = new LRUCache<string, CompiledExpression>({ max: MAX_KEPT })

  plan(info: RasterInfo, zones: readonly unknown[]): ZonePlan {
    const level = info.levels[0] as Level
    const { crs, transform, width, height } = info
    const grid = [crs?.proj4, transform, width, height, level.blockWidth, level.blockHeight]
    return kept(this.#plans, JSON.stringify(grid), () => planZones(info, zones))
  }

  expression({ dataType, bandCount }: RasterInfo, source: string, compile: () => CompiledExpression): CompiledExpression {
    return kept(this.#expressions, `${dataType}/${bandCount}/${source}`, compile)
  }
}

function kept<V extends {}>(values: LRUCache<string, V>, key: string, make: () => V): V {
  let value = values.get(key)
  if (value === undefined) {
    value = make()
    values.set(key, value)
  }
  return value
}
