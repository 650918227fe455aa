import { Closed } from '#core/shapes.ts'
import { task } from '#task.ts'
import * as uploadFiles from '#model/imagery/upload-file.ts'
import { convertUploadTask } from '#model/imagery/tasks.ts'

/** Enqueues conversions again whose process crashed or whose last attempt failed. */
export default task({ name: 'uploads.resume', data: Closed({}), schedule: '* * * * *' }).handle(async ({ db, clock, tasks }) => {
  await db.transaction().execute(async (tx) => {
    for (const id of await uploadFiles.stalled(tx, clock.now())) await tasks(tx).enqueue(convertUploadTask, { file_id: id })
  })
})
