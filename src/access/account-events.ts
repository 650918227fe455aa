/** Changes that the owner of an account must know about: an entry in the audit log of each of their organizations, and an email. */
import { newId } from '#core/ids.ts'
import type { AccountNotice } from '#core/account-notice.ts'
import type { Tx } from '#db/tables.ts'
import * as users from '#model/identity/user.ts'
import * as audit from '#model/platform/audit.ts'
import type { SignInPlatform } from './sign-in.ts'

type Announcer = Pick<SignInPlatform, 'clock' | 'mails'>

/** The email goes to `who.email`, which is the old address if it has changed. */
export async function announce(
  { clock, mails }: Announcer,
  tx: Tx,
  who: Pick<users.User, 'id' | 'email' | 'name'>,
  notice: AccountNotice,
  detail: string | null = null,
): Promise<void> {
  await record(tx, who.id, notice, clock.now())
  await mails.notice(tx, { email: who.email, name: who.name, notice, detail })
}

/** A user without an organization has one entry, which only the operator sees. */
async function record(tx: Tx, userId: string, notice: AccountNotice, now: Date): Promise<void> {
  const organizations = (await users.organizations(tx, userId)).map(({ id }) => id)
  const entries = (organizations.length > 0 ? organizations : [null]).map((organizationId) => ({
    invocationId: newId(),
    organizationId,
    operation: `auth.${notice}`,
    principalKind: 'user',
    principalId: userId,
    userId,
    apiKeyId: null,
    inputHash: null,
    status: 200,
    durationMs: 0,
    artifacts: [],
    at: now,
    calls: 1,
    subject: null,
  }))
  await audit.write(tx, entries)
}
