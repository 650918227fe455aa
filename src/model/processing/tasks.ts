/** Tasks of processing jobs; their handlers are in `domains/processing`. */
import { Closed, Uuid } from '#core/shapes.ts'
import { taskContract } from '#effects.ts'

export const runJobTask = taskContract('processing.run', Closed({ job_id: Uuid }))
/** Works on parts of large jobs. */
export const runPartTask = taskContract('processing.part', Closed({ job_id: Uuid }))
/** Removes what workers stored for a job that has ended. */
export const clearJobTask = taskContract('processing.clear', Closed({ job_id: Uuid }))
