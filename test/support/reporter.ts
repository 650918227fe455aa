/** Node's own report, and after it what was left out: one line for each test that was skipped, with the reason, and for each kind of files. */
import path from 'node:path'
import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'
import type { TestsStream } from 'node:test'
import { campaignLength } from './campaign.ts'

const root = path.join(import.meta.dirname, '../..')
const SLOWEST = 20

type Event = { type: string; data: unknown }
interface Outcome {
  name: string
  nesting: number
  file?: string
  skip?: string | boolean
  details: { duration_ms: number }
}

interface Report {
  /** Milliseconds by file. */
  times: Map<string, number>
  failed: boolean
}

type LeftOut = ReadonlyMap<string, readonly string[]>

/** Prints as the tests go; resolves when the last line is out. `leftOut` is what this run leaves to another, by kind. */
export async function report(tests: TestsStream, out: NodeJS.WritableStream, leftOut: LeftOut): Promise<Report> {
  const skipped: string[] = []
  const result: Report = { times: new Map(), failed: false }
  const watch = ({ type, data }: Event): void => {
    if (type !== 'test:pass' && type !== 'test:fail') return
    const outcome = data as Outcome
    if (type === 'test:fail') result.failed = true
    if (outcome.skip !== undefined) skipped.push(skipLine(outcome))
    if (outcome.nesting > 0 || !outcome.file) return
    const file = path.relative(root, outcome.file)
    result.times.set(file, (result.times.get(file) ?? 0) + outcome.details.duration_ms)
  }
  async function* watched(): AsyncGenerator<Event> {
    for await (const event of tests as AsyncIterable<Event>) {
      watch(event)
      yield event
    }
  }
  for await (const text of Readable.from(watched()).compose(new spec())) out.write(text as string)
  out.write(closing(skipped, result.times, leftOut))
  return result
}

function skipLine({ name, file, skip }: Outcome): string {
  const reason = typeof skip === 'string' && skip !== '' ? skip : 'no reason given'
  return `﹣ skipped: ${name} (${file ? path.relative(root, file) : 'unknown file'}): ${reason}`
}

function closing(skipped: readonly string[], times: ReadonlyMap<string, number>, leftOut: LeftOut): string {
  const slowest = [...times].toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST)
  return [
    `ℹ slowest files: ${slowest.map(([file, ms]) => `${file} ${(ms / 1000).toFixed(1)} s`).join(', ')}`,
    ...(campaignLength === 'short' ? ['ℹ campaigns ran short: CAMPAIGN=long runs them in full'] : []),
    ...skipped.toSorted(),
    ...[...leftOut].map(([kind, files]) => `﹣ left out: ${kind} (${files.length} ${files.length === 1 ? 'file' : 'files'})`),
    ...(leftOut.size > 0 ? ['ℹ npm run test:all runs everything, npm run test:rest only what was left out'] : []),
    '',
  ].join('\n')
}
