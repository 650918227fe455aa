import { Closed } from '#core/shapes.ts'
import { task } from '#task.ts'
import * as uploads from '#model/imagery/upload.ts'
import { clearUploadTask } from '#model/imagery/tasks.ts'

/** Ends abandoned sessions and releases their reserved storage. */
export default task({ name: 'uploads.expire', data: Closed({}), schedule: '*/10 * * * *' }).handle(async ({ db, clock, change }) => {
  const now = clock.now()
  for (const { id, organizationId, isProjectGone } of await uploads.abandoned(db, now)) {
    const message = isProjectGone ? 'The project was deleted' : `No activity for ${uploads.SESSION_HOURS} hours`
    await change(organizationId, async ({ tx, tasks }) => {
      if (await uploads.fail(tx, id, { step: 'upload', message }, now)) await tasks.enqueue(clearUploadTask, { upload_id: id })
    })
  }
})
