/** The byte of each channel of one pixel as the service computes it, in 64 bits: what the graphics processor is checked against. */
import type { ChannelRange, DataHeader, Step } from './data-tile.ts'
import { byteOfChannel } from './thresholds.ts'

/** The result of an expression; NaN for no data. `bandOf` gives real values. */
export function evaluate(steps: readonly Step[], bandOf: (band: number) => number): number {
  const stack: number[] = []
  for (const step of steps) {
    if (step === null) stack.push(Number.NaN)
    else if (typeof step === 'number') stack.push(step)
    else if (/^b\d+$/.test(step)) stack.push(finite(bandOf(Number(step.slice(1)))))
    else apply(step, stack)
  }
  return stack[0] ?? Number.NaN
}

const finite = (value: number) => (Number.isFinite(value) ? value : Number.NaN)
const truth = (a: number, b: number, holds: boolean) => (Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : Number(holds))

const UNARY: Readonly<Record<string, (a: number) => number>> = {
  neg: (a) => -a,
  abs: Math.abs,
  sqrt: Math.sqrt,
  log: (a) => finite(Math.log(a)),
  log10: (a) => finite(Math.log10(a)),
  exp: (a) => finite(Math.exp(a)),
}

const BINARY: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => finite(a + b),
  '-': (a, b) => finite(a - b),
  '*': (a, b) => finite(a * b),
  '/': (a, b) => finite(a / b),
  '**': (a, b) => (Number.isNaN(a) ? a : finite(a ** b)),
  '<': (a, b) => truth(a, b, a < b),
  '<=': (a, b) => truth(a, b, a <= b),
  '>': (a, b) => truth(a, b, a > b),
  '>=': (a, b) => truth(a, b, a >= b),
  '==': (a, b) => truth(a, b, a === b),
  '!=': (a, b) => truth(a, b, a !== b),
  min: Math.min,
  max: Math.max,
}

const TERNARY: Readonly<Record<string, (a: number, b: number, c: number) => number>> = {
  clip: (a, b, c) => Math.min(Math.max(a, b), c),
  where: (a, b, c) => (Number.isNaN(a) ? a : a !== 0 ? b : c),
}

function apply(name: string, stack: number[]): void {
  const [unary, binary, ternary] = [UNARY[name], BINARY[name], TERNARY[name]]
  const c = ternary ? stack.pop()! : 0
  const b = ternary || binary ? stack.pop()! : 0
  const a = stack.pop()!
  stack.push(ternary ? ternary(a, b, c) : binary ? binary(a, b) : unary!(a))
}

/** The bytes of a pixel's channels from its samples; null where it has no data. */
export function bytesOf(header: DataHeader, ranges: readonly ChannelRange[]): (samples: readonly number[]) => number[] | null {
  const { style, bands, scales } = header
  const channels = ranges.map((range, channel) => byteOfChannel(header, channel, range)!)
  const shown = style.kind === 'rgb' ? style.bands : style.kind === 'single' ? [style.band] : []
  return (samples) => {
    const sampleOf = (band: number) => samples[bands.indexOf(band)]!
    const valueOf = (band: number) => {
      const { scale, offset } = scales?.[bands.indexOf(band)] ?? { scale: 1, offset: 0 }
      return sampleOf(band) * scale + offset
    }
    const values = style.kind === 'expression' ? style.results.map((steps) => evaluate(steps, valueOf)) : shown.map(sampleOf)
    if (style.kind === 'expression' && values.some((value) => Number.isNaN(value))) return null
    return values.map((value, channel) => channels[channel]!(value))
  }
}
