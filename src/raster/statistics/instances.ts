import type { DataType } from '#raster/types.ts'
import { sampleArray } from '#raster/warp/instances.ts'

import type * as Kernels from './kernels.ts'

export type StatisticsKernels = typeof Kernels

/** Modules, each imported once. */
const instances = new Map<string, Promise<StatisticsKernels>>()

/** One copy of the loops per array type; see `warp/instances.ts`. */
export function loadStatisticsKernels(dataType: DataType): Promise<StatisticsKernels> {
  const { name } = sampleArray(dataType, 0).constructor
  let instance = instances.get(name)
  if (!instance) {
    instance = import(`./kernels.ts?samples=${name}`) as Promise<StatisticsKernels>
    instances.set(name, instance)
  }
  return instance
}
