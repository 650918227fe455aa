/** Colours, tables and progress bars, on terminals only. */
import { styleText } from 'node:util'

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

const hasColors = (stream: NodeJS.WriteStream) =>
  process.env['NO_COLOR'] ? false : process.env['FORCE_COLOR'] ? true : stream.isTTY === true && process.env['TERM'] !== 'dumb'

export const paint = (style: Style, text: string, stream: NodeJS.WriteStream = process.stdout) =>
  hasColors(stream) ? styleText(style, text, { validateStream: false }) : text

export const note = (text: string, isQuiet = false) => void (isQuiet || process.stderr.write(`${text}\n`))

/** Resolves when everything is written, however slowly the reader reads. */
export function print(text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => process.stdout.write(text, (error) => (error ? reject(error) : resolve())))
}

const MAX_CELL = 48
const MIN_CELL = 8
const GAP = '  '

type Cell = string | number | null

export const columnsOf = (stream: NodeJS.WriteStream): number => stream.columns || Number.POSITIVE_INFINITY

/**
 * Columns are as wide as their longest cell; numbers align right. Empty columns are omitted, and the widest are cut until the line
 * fits the terminal. The first column stays whole because people copy it.
 */
export function table(heads: readonly string[], rows: readonly (readonly Cell[])[], columns = columnsOf(process.stdout)): string {
  const shown = heads.map((_, column) => column).filter((column) => column === 0 || rows.some((row) => row[column] != null))
  const cells = rows.map((row) => shown.map((column) => clip(row[column] == null ? '–' : String(row[column]))))
  const widths = shown.map((column, index) => Math.max(heads[column]!.length, ...cells.map((row) => row[index]!.length)))
  fit(widths, columns)
  const isNumber = shown.map((column) => rows.every((row) => row[column] == null || typeof row[column] === 'number'))
  const line = (row: readonly string[]) =>
    row
      .map((cell, index) => clip(cell, widths[index]))
      .map((cell, index) => (isNumber[index] ? cell.padStart(widths[index]!) : cell.padEnd(widths[index]!)))
      .join(GAP)
      .trimEnd()
  return [paint('bold', line(shown.map((column) => heads[column]!))), ...cells.map(line)].join('\n')
}

function fit(widths: number[], columns: number): void {
  const total = () => widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length)
  while (total() > columns) {
    const widest = widths.reduce((best, width, index) => (index > 0 && width > (widths[best] ?? 0) ? index : best), -1)
    if (widest === -1 || widths[widest]! <= MIN_CELL) return
    widths[widest]!--
  }
}

/** Removes control characters, which could otherwise control the terminal. */
function clip(text: string, maxLength = MAX_CELL): string {
  const clean = text.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ')
  return clean.length > maxLength ? `${clean.slice(0, maxLength - 1)}…` : clean
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

export function size(bytes: number): string {
  let unit = 0
  let value = bytes
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`
}

const BAR = 24
const LABEL = 24
/** Longest width of percent, bytes and rate: a line that wraps could not be redrawn. */
const FIGURES = 42
/** Minimum interval between two redraws. */
const REDRAW_MS = 80

/** Keeps both ends, because file names differ at either end. */
function shorten(label: string): string {
  const clean = clip(label, Number.POSITIVE_INFINITY)
  if (clean.length <= LABEL) return clean
  const tail = Math.floor(LABEL / 2)
  return `${clean.slice(0, LABEL - tail - 1)}…${clean.slice(-tail)}`
}

/** A progress bar on stderr if that is a terminal; otherwise nothing. */
export function bar(label: string, isQuiet: boolean): { at(done: number, total: number | null): void; end(): void } {
  const isShown = process.stderr.isTTY === true && !isQuiet
  const startedAt = performance.now()
  let drawnAt = 0
  const draw = (done: number, total: number | null) => {
    const share = total ? Math.min(1, done / total) : 0
    const columns = process.stderr.columns || 100
    const width = Math.max(0, Math.min(BAR, columns - LABEL - FIGURES - 1))
    const filled = Math.round(share * width)
    const rate = done / Math.max(0.001, (performance.now() - startedAt) / 1000)
    const blocks = `${paint('cyan', '━'.repeat(filled), process.stderr)}${paint('dim', '─'.repeat(width - filled), process.stderr)}`
    const figures = total ? `${String(Math.floor(share * 100)).padStart(3)}%  ${size(done)} of ${size(total)}` : size(done)
    process.stderr.write(`\r\x1b[K${shorten(label).padEnd(LABEL)} ${blocks} ${figures}${done > 0 ? `  ${size(rate)}/s` : ''}`)
  }
  return {
    at(done, total) {
      const now = performance.now()
      if (!isShown || (now - drawnAt < REDRAW_MS && done !== total)) return
      drawnAt = now
      draw(done, total)
    },
    end() {
      if (isShown) process.stderr.write('\n')
    },
  }
}

/** Arrays of numbers, such as positions and bounding boxes, with each number on its own line. */
const NUMBERS = /\[\n\s+(-?[\d.eE+-]+(?:,\n\s+-?[\d.eE+-]+)*)\n\s+\]/g

/** Indented JSON on a terminal, one line elsewhere. */
export function json(value: unknown, isPretty = process.stdout.isTTY === true): string {
  if (!isPretty) return JSON.stringify(value)
  return JSON.stringify(value, null, 2).replaceAll(NUMBERS, (_, numbers: string) => `[${numbers.replaceAll(/,\n\s+/g, ', ')}]`)
}
