import { currentSpan, startSpan, type Span } from '#core/tracing.ts'
import type { TaskWatch } from '#raster/pool/pool.ts'

/** Two spans for each raster task of a trace: from the request to the result, and in it the time in a child process. */
export function watchTask(task: string): TaskWatch | null {
  const parent = currentSpan()
  const span = parent && startSpan(`raster ${task}`, parent.traceparent)
  if (!span) return null
  let inChild: Span | null = null
  return {
    started() {
      inChild = startSpan(`raster child ${task}`, span.traceparent)
    },
    ended(ending) {
      for (const each of [inChild, span]) {
        each?.set({ 'groundtrack.raster.ending': ending })
        if (ending !== 'done') each?.fail(ending)
        each?.end()
      }
    },
  }
}
