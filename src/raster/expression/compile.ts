import type { DataType, SampleArray } from '#raster/types.ts'

import { finite, type Register } from './kernels.ts'
import type { Expression } from './parse.ts'
import { buildProgram, runProgram, type Program } from './program.ts'

/** physical value = sample · scale + offset, per band of the expression. */
export interface BandScale {
  scale: number
  offset: number
}

/** The scales of a raster's bands, keyed by band number. */
export const scalesOf = (bands: readonly BandScale[]): Map<number, BandScale> =>
  new Map(bands.flatMap(({ scale, offset }, index) => (scale === 1 && offset === 0 ? [] : [[index + 1, { scale, offset }] as const])))

export interface CompileOptions {
  dataType: DataType
  /** Keyed by band number; bands that are not named stay as they are. */
  scales?: ReadonlyMap<number, BandScale>
}

export interface CompiledExpression {
  /** Bands to read, from 1, in the order in which `run` wants them. */
  readonly bands: readonly number[]
  readonly resultCount: number
  /**
   * Computes every result for all samples. A sample is data where `mask` says so (0 = no data) and every result is
   * finite; elsewhere the output is NaN and the returned mask 0. `mask` may be null for 'all data'.
   */
  run(inputs: readonly SampleArray[], mask: Uint8Array | null, count: number): ExpressionOutput
}

interface ExpressionOutput {
  values: Float64Array<ArrayBuffer>[]
  mask: Uint8Array<ArrayBuffer>
  /** How many samples are data. */
  validCount: number
}

/** A few registers of this length stay in the first-level cache. */
const SEGMENT = 512

const INTEGER_BOUND = 2 ** 64
const FLOAT_BOUNDS: Partial<Record<DataType, number>> = { float16: 65504, float32: 3.5e38, float64: Number.MAX_VALUE }

/** Turns a parsed expression into a function over typed arrays. No code is generated: a list of kernels is run per segment. */
export function compileExpression(expression: Expression, options: CompileOptions): CompiledExpression {
  const { bands, results } = expression
  const scales = bands.map((band) => options.scales?.get(band) ?? null)
  const bound = bandBound(options.dataType, scales)
  const mayBeInfinite = options.dataType.startsWith('float') || bound === Number.POSITIVE_INFINITY
  const program = buildProgram(results, bands, bound)
  // Registers belong to the compiled expression; `run` never yields, so two calls cannot interleave.
  const registers = Array.from({ length: program.registerCount }, () => new Float64Array(SEGMENT))
  const outputs = program.resultRegisters

  const run: CompiledExpression['run'] = (inputs, mask, count) => {
    if (inputs.length !== bands.length) throw new TypeError(`expected ${bands.length} bands, got ${inputs.length}`)
    for (const { register, value } of program.constants) registers[register]!.fill(value)
    const values = results.map(() => new Float64Array(count))
    for (let start = 0; start < count; start += SEGMENT) {
      const length = Math.min(SEGMENT, count - start)
      load({ program, registers, inputs, scales, mayBeInfinite }, start, length)
      runProgram(program, registers, length)
      outputs.forEach((register, result) => {
        const source = registers[register]!
        values[result]!.set(length === SEGMENT ? source : source.subarray(0, length), start)
      })
    }
    return settle(values, mask, count)
  }
  return { bands, resultCount: results.length, run }
}

interface Loading {
  program: Program
  registers: readonly Register[]
  inputs: readonly SampleArray[]
  scales: readonly (BandScale | null)[]
  mayBeInfinite: boolean
}

function load({ program, registers, inputs, scales, mayBeInfinite }: Loading, start: number, length: number): void {
  program.bandRegisters.forEach((register, index) => {
    const samples = registers[register]!
    // The native copy converts any sample type; a loop of our own would be compiled for the first types it meets only.
    samples.set(inputs[index]!.subarray(start, start + length))
    const scale = scales[index]
    if (scale) for (let i = 0; i < length; i++) samples[i] = samples[i]! * scale.scale + scale.offset
    if (mayBeInfinite) finite(samples, samples, samples, samples, length)
  })
}

/** Joins the mask of the inputs with 'every result is finite'. */
function settle(values: Float64Array<ArrayBuffer>[], mask: Uint8Array | null, count: number): ExpressionOutput {
  const joined = mask ? mask.slice(0, count) : new Uint8Array(count).fill(255)
  let validCount = 0
  for (const result of values) validCount = joinResult(result, joined, count)
  // A later result may have taken samples away that an earlier one still holds.
  if (values.length > 1) for (const result of values) joinResult(result, joined, count)
  return { values, mask: joined, validCount }
}

/** Makes a result and the mask agree: what either lacks, both lack. Gives how many samples are left. */
function joinResult(result: Float64Array, mask: Uint8Array, count: number): number {
  let validCount = 0
  for (let i = 0; i < count; i++) {
    const value = result[i]!
    if (value === value && mask[i] !== 0) {
      validCount += 1
    } else {
      mask[i] = 0
      result[i] = Number.NaN
    }
  }
  return validCount
}

function bandBound(dataType: DataType, scales: readonly (BandScale | null)[]): number {
  const raw = FLOAT_BOUNDS[dataType] ?? INTEGER_BOUND
  return Math.max(raw, ...scales.map((scale) => (scale ? raw * Math.abs(scale.scale) + Math.abs(scale.offset) : raw)))
}
