/** Where workers from outside put what they made, until it is registered. Nothing is ever served from there. */
import { keySegment } from '#core/file-names.ts'

export const workerPrefix = (jobId: string) => `jobs/${jobId}/`
export const workerObject = (bucket: string, jobId: string, name: string) => ({ bucket, key: workerPrefix(jobId) + keySegment(name) })

/** How long an address to PUT an output to is valid. */
export const PUT_SECONDS = 3_600
