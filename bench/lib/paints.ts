/** What the main thread of a page computed before its largest paint, from the browser's own trace. */
import type { Browser, Page } from 'playwright-core'

interface TraceEvent {
  name: string
  ph: string
  pid: number
  tid: number
  ts: number
  dur?: number
  /** CPU time, microseconds. */
  tdur?: number
}

const SCRIPT = new Set([
  'EvaluateScript',
  'FunctionCall',
  'v8.evaluateModule',
  'v8.compile',
  'v8.compileModule',
  'RunMicrotasks',
  'FireIdleCallback',
])
const LARGEST = 'largestContentfulPaint::Candidate'

interface BeforePaint {
  scriptMs: number
  allMs: number
}

/** CPU time: what else the machine does counts for nothing. */
export async function cpuBeforePaint(browser: Browser, page: Page, load: () => Promise<void>): Promise<BeforePaint> {
  await browser.startTracing(page, {
    categories: ['devtools.timeline', 'v8', 'toplevel', 'loading', 'disabled-by-default-devtools.timeline'],
  })
  await load()
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
  const paint = trace.traceEvents.filter(({ name }) => name === LARGEST).at(-1)
  if (!paint) throw new Error('The trace has no largest paint')
  const before = trace.traceEvents.filter(
    (event) => event.pid === paint.pid && event.tid === paint.tid && event.ph === 'X' && event.ts < paint.ts,
  )
  return { scriptMs: cpuOf(before.filter(({ name }) => SCRIPT.has(name))), allMs: cpuOf(before.filter(({ name }) => name === 'RunTask')) }
}

/** Milliseconds; what lies within another event is counted with it. */
function cpuOf(events: readonly TraceEvent[]): number {
  let end = -Infinity
  let sum = 0
  for (const { ts, dur = 0, tdur = 0 } of events.toSorted((a, b) => a.ts - b.ts)) {
    if (ts < end) continue
    end = ts + dur
    sum += tdur
  }
  return sum / 1000
}
