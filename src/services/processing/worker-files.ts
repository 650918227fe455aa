/** Where workers from outside put what they made, until it is registered. Nothing is ever served from there. */
import { keySegment } from '#core/file-names.ts'

export const workerObject = (bucket: string, jobId: string, name: string) => ({ bucket, key: `jobs/${jobId}/${keySegment(name)}` })
