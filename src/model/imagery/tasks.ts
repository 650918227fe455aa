/** Tasks that imagery enqueues; their handlers are in `domains/uploads`. */
import { Closed, Uuid } from '#core/shapes.ts'
import { taskContract } from '#effects.ts'

export const convertUploadTask = taskContract('uploads.convert', Closed({ file_id: Uuid }))
export const clearUploadTask = taskContract('uploads.clear', Closed({ upload_id: Uuid }))
