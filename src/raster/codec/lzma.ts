import { RasterError } from '#raster/errors.ts'

/**
 * LZMA blocks, which are complete .xz streams: LZMA 2, alone or with a delta filter. Written here because the maintained packages
 * only decode streams without that filter, and libtiff always uses it.
 */

const MAGIC = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]
const HEADER_BYTES = 12
const FILTER = { delta: 0x03, lzma2: 0x21 } as const

/** Exactly `outputBytes`: a shorter stream is an error, a longer one is truncated. */
export function decodeLzma(input: Uint8Array, outputBytes: number): Uint8Array {
  if (!MAGIC.every((byte, i) => input[i] === byte)) throw damaged('it has no xz header')
  const out = new Uint8Array(outputBytes)
  const { dataAt, delta } = readBlockHeader(input, HEADER_BYTES)
  const done = new Lzma2(input, dataAt, out).run()
  if (done < outputBytes) throw damaged('it is truncated')
  if (delta > 0) for (let i = delta; i < out.length; i++) out[i] = out[i]! + out[i - delta]!
  return out
}

function readBlockHeader(input: Uint8Array, start: number): { dataAt: number; delta: number } {
  const size = ((input[start] ?? 0) + 1) * 4
  const flags = input[start + 1] ?? 0
  let at = start + 2
  const number = (): number => {
    let value = 0
    for (let shift = 0; shift < 49; shift += 7) {
      const byte = input[at++] ?? 0
      value += (byte & 0x7f) * 2 ** shift
      if ((byte & 0x80) === 0) return value
    }
    throw damaged('a number in its header is too long')
  }
  if (flags & 0x40) number()
  if (flags & 0x80) number()
  let delta = 0
  for (let filter = 0; filter <= (flags & 3); filter++) {
    const id = number()
    const properties = number()
    if (id === FILTER.delta) delta = (input[at] ?? 0) + 1
    else if (id !== FILTER.lzma2) throw new RasterError('unsupported', `LZMA with filter ${id} is not supported`)
    at += properties
  }
  if (input[start] === 0 || start + size > input.length) throw damaged('its header is truncated')
  return { dataAt: start + size, delta }
}

const STATES = 12
const MATCH_START = 2
const LENGTH_STATES = 4
const END_MODEL = 14
const FULL_DISTANCES = 128
const HALF = 1024
const TOP = 2 ** 24

const fresh = (count: number): Uint16Array => new Uint16Array(count).fill(HALF)

/** Decodes match lengths: short, middle and long, by position alignment. */
class LengthModel {
  readonly choice = fresh(2)
  readonly low = Array.from({ length: 16 }, () => fresh(8))
  readonly middle = Array.from({ length: 16 }, () => fresh(8))
  readonly high = fresh(256)
}

class Lzma2 {
  readonly #input: Uint8Array
  #at: number
  readonly #out: Uint8Array
  #done = 0
  #dictionaryStart = 0
  #range = 0
  #code = 0
  #lc = 0
  #lp = 0
  #pb = 0
  #state = 0
  #distances: [number, number, number, number] = [0, 0, 0, 0]
  #literals = fresh(0)
  #isMatch = fresh(0)
  #isRep = fresh(0)
  #isRep0 = fresh(0)
  #isRep1 = fresh(0)
  #isRep2 = fresh(0)
  #isRep0Long = fresh(0)
  #slots: Uint16Array[] = []
  #special = fresh(0)
  #align = fresh(0)
  #lengths = new LengthModel()
  #repLengths = new LengthModel()

  constructor(input: Uint8Array, at: number, out: Uint8Array) {
    this.#input = input
    this.#at = at
    this.#out = out
  }

  /** Number of bytes written. */
  run(): number {
    while (this.#done < this.#out.length) {
      const control = this.#byte()
      if (control === 0) break
      if (control < 0x80) this.#copyPlain(control)
      else this.#decodeChunk(control)
    }
    return this.#done
  }

  #byte(): number {
    if (this.#at >= this.#input.length) throw damaged('it is truncated')
    return this.#input[this.#at++]!
  }

  #copyPlain(control: number): void {
    if (control > 2) throw damaged('unknown chunk type')
    if (control === 1) this.#dictionaryStart = this.#done
    const size = (this.#byte() << 8) + this.#byte() + 1
    if (this.#at + size > this.#input.length) throw damaged('it is truncated')
    const kept = Math.min(size, this.#out.length - this.#done)
    this.#out.set(this.#input.subarray(this.#at, this.#at + kept), this.#done)
    this.#at += size
    this.#done += kept
  }

  #decodeChunk(control: number): void {
    const size = ((control & 0x1f) << 16) + (this.#byte() << 8) + this.#byte() + 1
    const packed = (this.#byte() << 8) + this.#byte() + 1
    const reset = (control >> 5) & 3
    if (reset === 3) this.#dictionaryStart = this.#done
    if (reset >= 2) this.#readProperties(this.#byte())
    if (reset >= 1) this.#resetState()
    if (this.#literals.length === 0) throw damaged('its properties are missing')
    const end = this.#at + packed
    if (end > this.#input.length) throw damaged('it is truncated')
    this.#at++
    this.#code = 0
    for (let i = 0; i < 4; i++) this.#code = ((this.#code << 8) | this.#byte()) >>> 0
    this.#range = 0xffffffff
    this.#decode(Math.min(this.#done + size, this.#out.length))
    this.#at = end
  }

  #readProperties(byte: number): void {
    if (byte >= 9 * 5 * 5) throw damaged('its properties are invalid')
    this.#lc = byte % 9
    this.#lp = Math.floor(byte / 9) % 5
    this.#pb = Math.floor(byte / 45)
    if (this.#lc + this.#lp > 4) throw damaged('its properties are invalid')
  }

  #resetState(): void {
    this.#state = 0
    this.#distances = [0, 0, 0, 0]
    this.#literals = fresh(0x300 << (this.#lc + this.#lp))
    this.#isMatch = fresh(STATES * 16)
    this.#isRep0Long = fresh(STATES * 16)
    this.#isRep = fresh(STATES)
    this.#isRep0 = fresh(STATES)
    this.#isRep1 = fresh(STATES)
    this.#isRep2 = fresh(STATES)
    this.#slots = Array.from({ length: LENGTH_STATES }, () => fresh(64))
    this.#special = fresh(1 + FULL_DISTANCES - END_MODEL)
    this.#align = fresh(16)
    this.#lengths = new LengthModel()
    this.#repLengths = new LengthModel()
  }

  #bit(model: Uint16Array, index: number): 0 | 1 {
    const probability = model[index]!
    const bound = (this.#range >>> 11) * probability
    let bit: 0 | 1 = 0
    if (this.#code < bound) {
      this.#range = bound
      model[index] = probability + ((2048 - probability) >>> 5)
    } else {
      this.#range -= bound
      this.#code -= bound
      model[index] = probability - (probability >>> 5)
      bit = 1
    }
    this.#refill()
    return bit
  }

  #refill(): void {
    if (this.#range >= TOP) return
    this.#range = (this.#range << 8) >>> 0
    this.#code = ((this.#code << 8) | (this.#input[this.#at++] ?? 0)) >>> 0
  }

  #plainBits(count: number): number {
    let value = 0
    for (let i = 0; i < count; i++) {
      this.#range >>>= 1
      const bit = this.#code >= this.#range ? 1 : 0
      if (bit) this.#code -= this.#range
      this.#refill()
      value = value * 2 + bit
    }
    return value
  }

  #tree(model: Uint16Array, bits: number): number {
    let index = 1
    for (let i = 0; i < bits; i++) index = (index << 1) | this.#bit(model, index)
    return index - (1 << bits)
  }

  /** Lowest bit first. */
  #reverseTree(model: Uint16Array, start: number, bits: number): number {
    let index = 1
    let value = 0
    for (let i = 0; i < bits; i++) {
      const bit = this.#bit(model, start + index)
      index = (index << 1) | bit
      value |= bit << i
    }
    return value
  }

  #decode(end: number): void {
    while (this.#done < end) {
      const place = (this.#done - this.#dictionaryStart) & ((1 << this.#pb) - 1)
      if (this.#bit(this.#isMatch, this.#state * 16 + place) === 0) this.#literal()
      else {
        const length = this.#bit(this.#isRep, this.#state) === 0 ? this.#match(place) : this.#repeated(place)
        this.#copy(length, end)
      }
    }
  }

  #literal(): void {
    const position = this.#done - this.#dictionaryStart
    const before = position > 0 ? this.#out[this.#done - 1]! : 0
    const context = ((position & ((1 << this.#lp) - 1)) << this.#lc) + (before >> (8 - this.#lc))
    const model = this.#literals.subarray(context * 0x300, context * 0x300 + 0x300)
    let symbol = 1
    if (this.#state >= 7) {
      let match = this.#out[this.#done - this.#distances[0] - 1] ?? 0
      while (symbol < 0x100) {
        const matchBit = (match >> 7) & 1
        match <<= 1
        const bit = this.#bit(model, ((1 + matchBit) << 8) + symbol)
        symbol = (symbol << 1) | bit
        if (matchBit !== bit) break
      }
    }
    while (symbol < 0x100) symbol = (symbol << 1) | this.#bit(model, symbol)
    this.#out[this.#done++] = symbol & 0xff
    this.#state = this.#state < 4 ? 0 : this.#state < 10 ? this.#state - 3 : this.#state - 6
  }

  #match(place: number): number {
    const [d0, d1, d2] = this.#distances
    const length = this.#length(this.#lengths, place)
    this.#state = this.#state < 7 ? 7 : 10
    this.#distances = [this.#distance(Math.min(length, LENGTH_STATES - 1)), d0, d1, d2]
    return length + MATCH_START
  }

  #distance(lengthState: number): number {
    const slot = this.#tree(this.#slots[lengthState]!, 6)
    if (slot < 4) return slot
    const bits = (slot >> 1) - 1
    const start = (2 | (slot & 1)) * 2 ** bits
    if (slot < END_MODEL) return start + this.#reverseTree(this.#special, start - slot, bits)
    return start + this.#plainBits(bits - 4) * 16 + this.#reverseTree(this.#align, 0, 4)
  }

  #repeated(place: number): number {
    const [d0, d1, d2, d3] = this.#distances
    if (this.#bit(this.#isRep0, this.#state) === 0) {
      if (this.#bit(this.#isRep0Long, this.#state * 16 + place) === 0) {
        this.#state = this.#state < 7 ? 9 : 11
        return 1
      }
    } else if (this.#bit(this.#isRep1, this.#state) === 0) this.#distances = [d1, d0, d2, d3]
    else if (this.#bit(this.#isRep2, this.#state) === 0) this.#distances = [d2, d0, d1, d3]
    else this.#distances = [d3, d0, d1, d2]
    const length = this.#length(this.#repLengths, place)
    this.#state = this.#state < 7 ? 8 : 11
    return length + MATCH_START
  }

  #length(model: LengthModel, place: number): number {
    if (this.#bit(model.choice, 0) === 0) return this.#tree(model.low[place]!, 3)
    if (this.#bit(model.choice, 1) === 0) return 8 + this.#tree(model.middle[place]!, 3)
    return 16 + this.#tree(model.high, 8)
  }

  #copy(length: number, end: number): void {
    const from = this.#done - this.#distances[0] - 1
    if (from < this.#dictionaryStart) throw damaged('a reference points before its start')
    const count = Math.min(length, end - this.#done)
    for (let i = 0; i < count; i++) this.#out[this.#done + i] = this.#out[from + i]!
    this.#done += count
  }
}

function damaged(detail: string): RasterError {
  return new RasterError('corrupt', `An LZMA block of the raster is damaged: ${detail}`)
}
