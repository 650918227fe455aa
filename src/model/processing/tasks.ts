/** Background work of processing jobs; its handlers are in `domains/processing`. */
import { Closed, Uuid } from '#core/shapes.ts'
import { taskContract } from '#effects.ts'

export const runJobTask = taskContract('processing.run', Closed({ job_id: Uuid }))
/** Removes what a worker put for a job that was cancelled. */
export const clearJobTask = taskContract('processing.clear', Closed({ job_id: Uuid }))
