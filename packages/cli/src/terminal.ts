/** Colours, tables and bars: on terminals only, and never on stdout where a program reads. */
import { styleText } from 'node:util'

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

const wants = (stream: NodeJS.WriteStream) =>
  process.env['NO_COLOR'] ? false : process.env['FORCE_COLOR'] ? true : stream.isTTY === true && process.env['TERM'] !== 'dumb'

export const paint = (style: Style, text: string, stream: NodeJS.WriteStream = process.stdout) =>
  wants(stream) ? styleText(style, text, { validateStream: false }) : text

export const note = (text: string, isQuiet = false) => void (isQuiet || process.stderr.write(`${text}\n`))

/** Writes all of it, however slowly the reader reads. */
export function print(text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => process.stdout.write(text, (error) => (error ? reject(error) : resolve())))
}

const MAX_CELL = 48

/** Columns as wide as their longest cell. Numbers stand to the right. */
export function table(heads: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  const cells = rows.map((row) => row.map((cell) => clip(cell === null ? '–' : String(cell))))
  const widths = heads.map((head, column) => Math.max(head.length, ...cells.map((row) => row[column]!.length)))
  const isNumber = heads.map((_, column) => {
    const known = rows.map((row) => row[column]).filter((cell) => cell != null)
    return known.length > 0 && known.every((cell) => typeof cell === 'number')
  })
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (isNumber[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd()
  return [paint('bold', line(heads)), ...cells.map(line)].join('\n')
}

/** Control characters of a name must not reach the terminal. */
function clip(text: string, most = MAX_CELL): string {
  const clean = text.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ')
  return clean.length > most ? `${clean.slice(0, most - 1)}…` : clean
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
/** Percent, bytes of bytes and their rate, at their longest: a line that wraps could not be drawn again. */
const FIGURES = 42
/** A terminal need not be written to more often. */
const REDRAW_MS = 80

/** A bar on stderr where that is a terminal; nothing elsewhere. */
export function bar(label: string, isQuiet: boolean): { at(done: number, total: number | null): void; end(): void } {
  const isShown = process.stderr.isTTY === true && !isQuiet
  const began = performance.now()
  let drawn = 0
  const draw = (done: number, total: number | null) => {
    const share = total ? Math.min(1, done / total) : 0
    const columns = process.stderr.columns || 100
    const width = Math.max(0, Math.min(BAR, columns - LABEL - FIGURES - 1))
    const filled = Math.round(share * width)
    const rate = done / Math.max(0.001, (performance.now() - began) / 1000)
    const blocks = `${paint('cyan', '━'.repeat(filled), process.stderr)}${paint('dim', '─'.repeat(width - filled), process.stderr)}`
    const figures = total ? `${String(Math.floor(share * 100)).padStart(3)}%  ${size(done)} of ${size(total)}` : size(done)
    process.stderr.write(`\r\x1b[K${clip(label, LABEL).padEnd(LABEL)} ${blocks} ${figures}${done > 0 ? `  ${size(rate)}/s` : ''}`)
  }
  return {
    at(done, total) {
      const now = performance.now()
      if (!isShown || (now - drawn < REDRAW_MS && done !== total)) return
      drawn = now
      draw(done, total)
    },
    end() {
      if (isShown) process.stderr.write('\n')
    },
  }
}

/** JSON for people on a terminal, and in one line for programs. */
export function json(value: unknown, isPretty = process.stdout.isTTY === true): string {
  return JSON.stringify(value, null, isPretty ? 2 : undefined)
}
