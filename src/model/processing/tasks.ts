/** Tasks of processing jobs; their handlers are in `domains/processing`. */
import { Closed, Uuid } from '#core/shapes.ts'
import { taskContract } from '#effects.ts'

export const runJobTask = taskContract('processing.run', Closed({ job_id: Uuid }))
/** Removes the files that a worker uploaded for a cancelled job. */
export const clearJobTask = taskContract('processing.clear', Closed({ job_id: Uuid }))
