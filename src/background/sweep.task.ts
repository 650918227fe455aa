import { DAY_MS } from '#core/time.ts'
import { Closed } from '#core/shapes.ts'
import { task } from '#task.ts'
import * as downloadQuota from '#model/plans/download-quota.ts'
import * as idempotency from '#model/platform/idempotency.ts'
import * as rateWindow from '#model/platform/rate-window.ts'
import * as session from '#model/identity/session.ts'
import * as signingKey from '#model/identity/signing-key.ts'

/** Removes what has run out: stored responses after a day, ended sessions, old windows; and renews the signing key. */
export default task({ name: 'pipeline.sweep', data: Closed({}), schedule: '*/10 * * * *' }).handle(async ({ db, clock }) => {
  const now = clock.now()
  const dayAgo = new Date(now.getTime() - DAY_MS)
  await idempotency.sweep(db, now)
  await rateWindow.sweep(db, dayAgo)
  await session.sweep(db, dayAgo)
  await downloadQuota.sweep(db, now)
  await signingKey.rotate(db, now)
})
