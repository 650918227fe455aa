import { RasterError } from '#raster/errors.ts'

/** Fax compression of bilevel images: runs of white and black, coded alone (Group 3) or relative to the previous row (Group 4). */

interface FaxOptions {
  readonly kind: 'rle' | 'g3' | 'g4'
  /** Group 3 with rows coded relative to the previous row. */
  readonly isTwoDimensional: boolean
  readonly columns: number
  readonly rows: number
}

/** Codes of run lengths 0–63, then of 64, 128, … 1728. */
const WHITE =
  '00110101 000111 0111 1000 1011 1100 1110 1111 10011 10100 00111 01000 001000 000011 110100 110101 101010 101011 0100111 0001100 ' +
  '0001000 0010111 0000011 0000100 0101000 0101011 0010011 0100100 0011000 00000010 00000011 00011010 00011011 00010010 00010011 ' +
  '00010100 00010101 00010110 00010111 00101000 00101001 00101010 00101011 00101100 00101101 00000100 00000101 00001010 00001011 ' +
  '01010010 01010011 01010100 01010101 00100100 00100101 01011000 01011001 01011010 01011011 01001010 01001011 00110010 ' +
  '00110011 00110100 11011 10010 010111 0110111 00110110 00110111 01100100 01100101 01101000 01100111 011001100 011001101 ' +
  '011010010 011010011 011010100 011010101 011010110 011010111 011011000 011011001 011011010 011011011 010011000 010011001 ' +
  '010011010 011000 010011011'
const BLACK =
  '0000110111 010 11 10 011 0011 0010 00011 000101 000100 0000100 0000101 0000111 00000100 00000111 000011000 0000010111 0000011000 ' +
  '0000001000 00001100111 00001101000 00001101100 00000110111 00000101000 00000010111 00000011000 000011001010 000011001011 ' +
  '000011001100 000011001101 000001101000 000001101001 000001101010 000001101011 000011010010 000011010011 000011010100 ' +
  '000011010101 000011010110 000011010111 000001101100 000001101101 000011011010 000011011011 000001010100 000001010101 ' +
  '000001010110 000001010111 000001100100 000001100101 000001010010 000001010011 000000100100 000000110111 000000111000 ' +
  '000000100111 000000101000 000001011000 000001011001 000000101011 000000101100 000001011010 000001100110 000001100111 ' +
  '0000001111 000011001000 000011001001 000001011011 000000110011 000000110100 000000110101 0000001101100 0000001101101 ' +
  '0000001001010 0000001001011 0000001001100 0000001001101 0000001110010 0000001110011 0000001110100 0000001110101 ' +
  '0000001110110 0000001110111 0000001010010 0000001010011 0000001010100 0000001010101 0000001011010 0000001011011 ' +
  '0000001100100 0000001100101'
/** 1792, 1856, … 2560 in both colours. */
const LONG =
  '00000001000 00000001100 00000001101 000000010010 000000010011 000000010100 000000010101 000000010110 000000010111 000000011100 ' +
  '000000011101 000000011110 000000011111'
/** Modes: pass, a pair of runs, or an offset from the change in the previous row. */
const MODES: Readonly<Record<string, Mode>> = {
  '0001': 'pass',
  '001': 'runs',
  '1': 0,
  '011': 1,
  '000011': 2,
  '0000011': 3,
  '010': -1,
  '000010': -2,
  '0000010': -3,
}
type Mode = 'pass' | 'runs' | number

const LONGEST_CODE = 13
const END_OF_LINE_BITS = 12

type Codes<T> = ReadonlyMap<number, T>

/** A code as a number with a leading 1, so that codes of different lengths differ. */
const codeKey = (bits: string): number => Number.parseInt(`1${bits}`, 2)

function runCodes(own: string): Codes<number> {
  const codes = new Map<number, number>()
  own.split(' ').forEach((bits, i) => codes.set(codeKey(bits), i < 64 ? i : (i - 63) * 64))
  LONG.split(' ').forEach((bits, i) => codes.set(codeKey(bits), 1792 + i * 64))
  return codes
}

const RUNS = [runCodes(WHITE), runCodes(BLACK)] as const
const MODE_CODES: Codes<Mode> = new Map(Object.entries(MODES).map(([bits, mode]) => [codeKey(bits), mode]))

/** Rows of bits, each starting at a byte boundary. Missing or damaged rows are an error. */
export function decodeFax(input: Uint8Array, options: FaxOptions): Uint8Array {
  const { columns, rows, kind } = options
  const rowBytes = Math.ceil(columns / 8)
  const out = new Uint8Array(rowBytes * rows)
  const reader = new FaxReader(input)
  let above: number[] = []
  for (let row = 0; row < rows; row++) {
    let isPlain = kind === 'rle'
    if (kind === 'rle') reader.alignToByte()
    if (kind === 'g3') {
      reader.skipEndOfLine()
      isPlain = options.isTwoDimensional ? reader.bit() === 1 : true
    }
    const changes = isPlain ? plainRow(reader, columns) : codedRow(reader, above, columns)
    paint(out.subarray(row * rowBytes, (row + 1) * rowBytes), changes, columns)
    above = changes
  }
  return out
}

class FaxReader {
  readonly #input: Uint8Array
  #at = 0

  constructor(input: Uint8Array) {
    this.#input = input
  }

  bit(): 0 | 1 {
    const byte = this.#input[this.#at >> 3]
    if (byte === undefined) throw damaged('it is truncated')
    const bit = (byte >> (7 - (this.#at & 7))) & 1
    this.#at++
    return bit as 0 | 1
  }

  alignToByte(): void {
    this.#at = (this.#at + 7) & ~7
  }

  code<T>(codes: Codes<T>): T {
    let key = 1
    for (let length = 1; length <= LONGEST_CODE; length++) {
      key = (key << 1) | this.bit()
      const decoded = codes.get(key)
      if (decoded !== undefined) return decoded
    }
    throw damaged('unknown code')
  }

  /** End of line: eleven zeros or more and a one. Some writers omit it. */
  skipEndOfLine(): void {
    const start = this.#at
    let zeros = 0
    while (this.#at < this.#input.length * 8 && this.bit() === 0) zeros++
    if (zeros < END_OF_LINE_BITS - 1) this.#at = start
  }

  /** The length of a run: any number of long codes and a short one. */
  run(color: 0 | 1): number {
    let length = 0
    for (;;) {
      const part = this.code(RUNS[color])
      length += part
      if (part < 64) return length
    }
  }
}

/** Columns where the colour changes, starting with white. */
function plainRow(reader: FaxReader, columns: number): number[] {
  const changes: number[] = []
  let at = 0
  for (let color: 0 | 1 = 0; at < columns; color = color === 0 ? 1 : 0) {
    at += reader.run(color)
    if (at > columns) throw damaged('a row is too long')
    changes.push(at)
  }
  return changes
}

function codedRow(reader: FaxReader, above: readonly number[], columns: number): number[] {
  const changes: number[] = []
  let at = -1
  let color: 0 | 1 = 0
  let index = 0
  while (at < columns) {
    // b1 and b2 of the standard: the first change of the opposite colour to the right in the previous row, and the next one.
    while (index > 0 && above[index - 1]! > at) index--
    while (index < above.length && above[index]! <= at) index++
    if (index % 2 !== color) index++
    const [b1, b2] = [above[index] ?? columns, above[index + 1] ?? columns]
    const mode = reader.code(MODE_CODES)
    if (mode === 'pass') at = b2
    else if (mode === 'runs') {
      const other = color === 0 ? 1 : 0
      const first = Math.max(at, 0) + reader.run(color)
      at = first + reader.run(other)
      changes.push(first, at)
    } else {
      at = b1 + mode
      changes.push(at)
      color = color === 0 ? 1 : 0
    }
    if (at > columns || at < (changes.at(-2) ?? 0)) throw damaged('a row is too long')
  }
  return changes
}

function paint(row: Uint8Array, changes: readonly number[], columns: number): void {
  for (let i = 0; i < changes.length; i += 2) {
    const end = Math.min(changes[i + 1] ?? columns, columns)
    for (let x = changes[i]!; x < end; x++) row[x >> 3]! |= 0x80 >> (x & 7)
  }
}

function damaged(detail: string): RasterError {
  return new RasterError('corrupt', `A fax-coded block of the raster is damaged: ${detail}`)
}
