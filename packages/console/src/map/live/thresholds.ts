/**
 * From which value on a pixel has which byte, exactly as the service computes it in 64 bits. The graphics processor only compares, so
 * that its own precision does not matter.
 */
import type { ChannelRange, DataHeader } from './data-tile.ts'

export const BYTES = 256
const LAST = BYTES - 1
/** The steps of the service's curve for samples that are too wide for a table. */
const CURVE_STEPS = 4096
const SMALL_TYPES: readonly string[] = ['uint8', 'int8', 'uint16', 'int16']

type ByteOf = (value: number) => number

/** The service's rules from a sample, or the result of an expression, to a byte; null for a range that is not ascending. */
export function byteOfChannel(header: DataHeader, channel: number, range: ChannelRange): ByteOf | null {
  const { style, type } = header
  if (style.kind === 'expression') return linear(range[0], range[1])
  const [low, high] = sampleRange(header, channel, range)
  const gamma = range[2] ?? 1
  if (!(high > low)) return null
  if (SMALL_TYPES.includes(type)) return (value) => bent(((value - low) * (LAST / (high - low))) / LAST, gamma)
  if (gamma === 1) return linear(low, high)
  const curve = Uint8Array.from({ length: CURVE_STEPS }, (_, step) => bent(step / (CURVE_STEPS - 1), gamma))
  const factor = (CURVE_STEPS - 1) / (high - low)
  return (value) => {
    const step = (value - low) * factor
    return curve[step >= CURVE_STEPS - 1 ? CURVE_STEPS - 1 : step > 0 ? Math.trunc(step) : 0]!
  }
}

/** Samples are compared as they are stored; a range is in real values. */
function sampleRange({ style, bands, scales }: DataHeader, channel: number, [low, high]: ChannelRange): [number, number] {
  const band = style.kind === 'rgb' ? style.bands[channel]! : bands[0]!
  const { scale, offset } = scales?.[bands.indexOf(band)] ?? { scale: 1, offset: 0 }
  const divisor = scale === 0 ? 1 : scale
  return [(low - offset) / divisor, (high - offset) / divisor]
}

function linear(low: number, high: number): ByteOf | null {
  if (!(high > low)) return null
  const factor = LAST / (high - low)
  return (value) => {
    const scaled = (value - low) * factor
    return scaled >= LAST ? LAST : scaled > 0 ? Math.trunc(scaled) : 0
  }
}

function bent(place: number, gamma: number): number {
  const within = place >= 1 ? 1 : place > 0 ? place : 0
  return Math.trunc(LAST * within ** (1 / gamma))
}

/** For each byte, the smallest 32-bit float that has it or a larger one. */
export function thresholdsOf(byteOf: ByteOf): Float32Array<ArrayBuffer> {
  const thresholds = new Float32Array(BYTES)
  thresholds[0] = -MAX_FLOAT
  let place = placeOf(-MAX_FLOAT)
  for (let byte = 1; byte < BYTES; byte++) {
    place = firstPlace(byteOf, byte, place)
    thresholds[byte] = floatAt(place)
  }
  return thresholds
}

const MAX_FLOAT = 3.4028234663852886e38
const bits = new DataView(new ArrayBuffer(4))

/** Floats in their order as integers, without gaps. */
function placeOf(value: number): number {
  bits.setFloat32(0, value)
  const integer = bits.getInt32(0)
  return integer >= 0 ? integer : -(integer & 0x7fffffff)
}

function floatAt(place: number): number {
  bits.setInt32(0, place >= 0 ? place : -place | 0x80000000)
  return bits.getFloat32(0)
}

/** Bisects, starting where the threshold before was: neighbours are near each other. */
function firstPlace(byteOf: ByteOf, byte: number, from: number): number {
  const has = (place: number) => byteOf(floatAt(place)) >= byte
  if (has(from)) return from
  let low = from
  let step = 1
  const last = placeOf(MAX_FLOAT)
  while (low + step < last && !has(low + step)) {
    low += step
    step *= 4
  }
  let high = Math.min(last, low + step)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (has(middle)) high = middle
    else low = middle
  }
  return high
}
