import type { DataType } from '#raster/types.ts'
import { sampleArray } from '#raster/warp/instances.ts'

import type * as Kernels from './kernels.ts'

type ProcessKernels = typeof Kernels

/** Modules, each imported once. */
const instances = new Map<string, Promise<ProcessKernels>>()

/** One copy of the loops per array type; see `warp/instances.ts`. */
export function loadProcessKernels(dataType: DataType): Promise<ProcessKernels> {
  const { name } = sampleArray(dataType, 0).constructor
  let instance = instances.get(name)
  if (!instance) {
    instance = import(`./kernels.ts?samples=${name}`) as Promise<ProcessKernels>
    instances.set(name, instance)
  }
  return instance
}
