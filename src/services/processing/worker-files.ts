/** Where external workers upload their outputs until they are registered. Nothing is served from there. */
import { keySegment } from '#core/file-names.ts'

export const workerPrefix = (jobId: string) => `jobs/${jobId}/`
/** Parts of a large job, until it ends. */
export const partPrefix = (jobId: string) => `${workerPrefix(jobId)}parts/`
export const workerObject = (bucket: string, jobId: string, name: string) => ({ bucket, key: workerPrefix(jobId) + keySegment(name) })

/** Lifetime of a signed URL for uploading an output. */
export const PUT_SECONDS = 3_600
