import { DAY_MS } from '#core/time.ts'
import { Closed } from '#core/shapes.ts'
import { task } from '#task.ts'
import * as downloadQuotas from '#model/plans/download-quota.ts'
import * as idempotency from '#model/platform/idempotency.ts'
import * as rateWindows from '#model/platform/rate-window.ts'
import * as traceLinks from '#model/platform/trace-link.ts'
import * as emailChanges from '#model/identity/email-change.ts'
import * as sessions from '#model/identity/session.ts'
import * as challenges from '#model/identity/sign-in-challenge.ts'
import * as ssoIdentities from '#model/identity/sso-identity.ts'
import * as signingKeys from '#model/identity/signing-key.ts'

/**
 * Removes expired data (stored responses, ended sessions, expired challenges, old rate-limit windows, links of traces) and rotates the
 * signing key.
 */
export default task({ name: 'pipeline.sweep', data: Closed({}), schedule: '*/10 * * * *' }).handle(async ({ db, clock }) => {
  const now = clock.now()
  const dayAgo = new Date(now.getTime() - DAY_MS)
  await idempotency.sweep(db, now)
  await rateWindows.sweep(db, dayAgo)
  await sessions.sweep(db, dayAgo)
  await challenges.sweep(db, now)
  await emailChanges.sweep(db, now)
  await ssoIdentities.sweep(db)
  await downloadQuotas.sweep(db, now)
  await traceLinks.sweep(db)
  await signingKeys.rotate(db, now)
})
