/** The catalogue of processes. A new process is a file in `processes/` and a line here. */
import { invalidInput, unknownName, type FieldError } from '#core/problem.ts'
import { examine } from '#core/validate.ts'
import type { AnyProcess } from './process.ts'
import aspect from './processes/aspect.ts'
import bandMath from './processes/band-math.ts'
import changeDetection from './processes/change-detection.ts'
import cloudMask from './processes/cloud-mask.ts'
import cogClip from './processes/cog-clip.ts'
import cogConvert from './processes/cog-convert.ts'
import composite from './processes/composite.ts'
import contour from './processes/contour.ts'
import hillshade from './processes/hillshade.ts'
import spectralIndex from './processes/index.ts'
import mosaic from './processes/mosaic.ts'
import pansharpen from './processes/pansharpen.ts'
import polygonize from './processes/polygonize.ts'
import reproject from './processes/reproject.ts'
import resample from './processes/resample.ts'
import sceneCopy from './processes/scene-copy.ts'
import slope from './processes/slope.ts'
import zonalStats from './processes/zonal-stats.ts'

export const PROCESSES: readonly AnyProcess[] = Object.freeze([
  aspect,
  bandMath,
  changeDetection,
  cloudMask,
  cogClip,
  cogConvert,
  composite,
  contour,
  hillshade,
  mosaic,
  pansharpen,
  polygonize,
  reproject,
  resample,
  sceneCopy,
  slope,
  spectralIndex,
  zonalStats,
])

const byId = new Map(PROCESSES.map((process) => [process.id, process]))

export const findProcess = (id: string): AnyProcess | null => byId.get(id) ?? null

export function requireProcess(id: string): AnyProcess {
  const process = findProcess(id)
  if (!process) throw unknownName('process', id, [...byId.keys()], `available processes: ${[...byId.keys()].join(', ')}`)
  return process
}

/** The parameters with their defaults, and the errors with the field names of the caller's input. */
export function examineParams(process: AnyProcess, params: unknown, field: string): { value: unknown; errors: FieldError[] } {
  const { value, errors } = examine(process.input, params, process.id)
  return { value, errors: errors.map((error) => ({ ...error, field: error.field === '' ? field : `${field}.${error.field}` })) }
}

/** The parameters with their defaults, or 422 with the error of every field. */
export function validateParams(process: AnyProcess, params: unknown, field: string): unknown {
  const { value, errors } = examineParams(process, params, field)
  if (errors.length > 0) throw invalidInput(errors)
  return value
}
