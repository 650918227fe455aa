/** Tells an operator how far long work has come: one line that is rewritten on a terminal, and a line now and then in a log. */
const TERMINAL_MS = 200
const LOG_MS = 10_000
const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

export interface Progress {
  /** The next step begins. */
  step(name: string): void
  /** So many bytes, and one more piece unless they are part of one. */
  add(bytes: number, pieces?: number): void
  end(): void
}

export function sizeText(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  return `${unit === 0 ? bytes : (bytes / 1000 ** unit).toFixed(1)} ${UNITS[unit]}`
}

export function openProgress(out: NodeJS.WriteStream): Progress {
  let [name, pieces, bytes, shownAt] = ['', 0, 0, 0]
  const text = () => `${name}: ${pieces > 0 ? `${pieces}, ` : ''}${sizeText(bytes)}`
  const show = () => out.write(out.isTTY ? `\r\u001B[K${text()}` : `${text()}\n`)
  const finish = () => {
    if (name === '') return
    show()
    if (out.isTTY) out.write('\n')
    name = ''
  }
  return {
    step(next) {
      finish()
      ;[name, pieces, bytes, shownAt] = [next, 0, 0, performance.now()]
    },
    add(more, morePieces = 1) {
      bytes += more
      pieces += morePieces
      if (performance.now() - shownAt < (out.isTTY ? TERMINAL_MS : LOG_MS)) return
      shownAt = performance.now()
      show()
    },
    end: finish,
  }
}
