/** The log format for a terminal: one short line per call. Elsewhere, the log is JSON. */
import { styleText } from 'node:util'
import type { DestinationStream } from 'pino'

interface Line {
  level: number
  time: string
  msg: string
  operation?: string
  status?: number
  ms?: number
  method?: string
  path?: string
  err?: { message?: string; stack?: string }
}

const WARN = 40
const ERROR = 50
const OPERATION_WIDTH = 34

export function terminalLog(write: (text: string) => void, colours: boolean): DestinationStream {
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    colours ? styleText(style, text, { validateStream: false }) : text
  const statusOf = (status: number) => paint(status < 400 ? 'green' : status < 500 ? 'yellow' : 'red', String(status))

  const format = (line: Line): string => {
    const time = paint('dim', line.time.slice(11, 19))
    if (line.msg === 'call' && line.status !== undefined)
      return `${time}  ${(line.operation ?? '').padEnd(OPERATION_WIDTH)} ${statusOf(line.status)} ${paint('dim', `${line.ms} ms`)}`
    if (line.msg === 'request' && line.status !== undefined)
      return `${time}  ${`${line.method} ${line.path}`.padEnd(OPERATION_WIDTH)} ${statusOf(line.status)} ${paint('dim', `${line.ms} ms`)}`
    const mark = line.level >= ERROR ? paint('red', 'error ') : line.level >= WARN ? paint('yellow', 'warning ') : ''
    const about = line.operation ? `${line.operation}: ` : ''
    const why = line.err?.message ? `: ${line.err.message}` : ''
    const stack = line.level >= ERROR && line.err?.stack ? `\n${paint('dim', line.err.stack)}` : ''
    return `${time}  ${mark}${about}${line.msg}${why}${stack}`
  }

  return {
    write(text) {
      try {
        write(`${format(JSON.parse(text) as Line)}\n`)
      } catch {
        write(text)
      }
    },
  }
}
