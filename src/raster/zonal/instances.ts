import type { DataType } from '#raster/types.ts'
import { sampleArray } from '#raster/warp/instances.ts'

import type * as Kernels from './kernels.ts'

/** Modules, each imported once. */
const instances = new Map<string, Promise<typeof Kernels>>()

/** One copy of the loop per array type; see `warp/instances.ts`. */
export function loadZonalKernels(dataType: DataType): Promise<typeof Kernels> {
  const { name } = sampleArray(dataType, 0).constructor
  let instance = instances.get(name)
  if (!instance) {
    instance = import(`./kernels.ts?samples=${name}`) as Promise<typeof Kernels>
    instances.set(name, instance)
  }
  return instance
}
