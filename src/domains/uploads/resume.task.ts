import { Closed } from '#core/shapes.ts'
import { job } from '#task.ts'
import * as uploadFile from '#model/imagery/upload-file.ts'
import convert from './convert.task.ts'

/** Takes up conversions whose process died or whose last try failed. */
export default job({ name: 'uploads.resume', data: Closed({}), schedule: '* * * * *' }).handle(async ({ db, clock, jobs }) => {
  await db.transaction().execute(async (tx) => {
    for (const id of await uploadFile.forgotten(tx, clock.now())) await jobs(tx).enqueue(convert, { file_id: id })
  })
})
