/** Settings of an account: name, language, units and email address. */
import { notFound, problem } from '#core/problem.ts'
import type { Language, Units } from '#core/vocabulary.ts'
import * as emailChanges from '#model/identity/email-change.ts'
import * as mailTokens from '#model/identity/mail-token.ts'
import * as sessions from '#model/identity/session.ts'
import * as users from '#model/identity/user.ts'
import { announce } from './account-events.ts'
import { requirePassword, type Oneself } from './account.ts'
import { throttle, type SignInPlatform } from './sign-in.ts'

/** Emails that one account can send to new addresses in a quarter of an hour. */
const CHANGES_PER_ACCOUNT = 5

interface Settings {
  name?: string | undefined
  language?: Language | null | undefined
  units?: Units | null | undefined
}

export async function setSettings({ db }: SignInPlatform, { userId }: Oneself, { name, language, units }: Settings): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (name !== undefined) await users.setName(tx, userId, name.trim())
    await users.setPreferences(tx, userId, {
      ...(language === undefined ? {} : { language }),
      ...(units === undefined ? {} : { units }),
    })
  })
}

/** The address changes when the link in the email to the new one is used. */
export async function requestEmail(platform: SignInPlatform, oneself: Oneself, input: { email: string; password: string }): Promise<void> {
  const { db, clock, roles } = platform
  const email = users.normaliseEmail(input.email)
  const who = await requirePassword(platform, oneself, input.password)
  await throttle(platform, `email-change:${who.id}`, CHANGES_PER_ACCOUNT)
  if (email === who.email) throw problem('bad-request', 'This is the email address of the account already')
  // Roles follow the address, so that only the operator can move one to another address.
  const reserved = [...roles.systemAdminEmails, roles.clipUserEmail]
  if (who.isSystemAdmin || who.isClipUser || reserved.includes(email))
    throw problem('forbidden', 'The address has a role of the operator, who changes it with the settings of the service')
  if (await users.findByEmail(db, email)) throw taken()
  await db.transaction().execute(async (tx) => {
    await emailChanges.request(tx, who.id, email, clock.now())
    await platform.mails.changeEmail(tx, who.id, email)
  })
}

/** Tells the old address. Links that were sent to it no longer work. */
export async function confirmEmail(platform: SignInPlatform, token: string): Promise<void> {
  const { db, clock } = platform
  const confirmed = db.transaction().execute(async (tx) => {
    const change = await emailChanges.spend(tx, token, clock.now())
    if (!change) throw problem('bad-request', 'This link was already used or has expired; change the email address again')
    const before = (await users.find(tx, change.userId))!
    if (!(await users.setEmail(tx, change.userId, change.email, clock.now()))) throw taken()
    await mailTokens.spendAll(tx, change.userId, clock.now())
    await announce(platform, tx, before, 'email_changed', change.email)
  })
  await confirmed.catch((error: unknown) => {
    throw (error as { code?: unknown }).code === UNIQUE_VIOLATION ? taken() : error // Somebody signed up with it in this moment.
  })
}

const UNIQUE_VIOLATION = '23505'

const taken = () => problem('bad-request', 'Another account has this email address')

export async function endSession({ db, clock, rightsChanged }: SignInPlatform, { userId }: Oneself, id: string): Promise<void> {
  if (!(await sessions.endOne(db, userId, id, clock.now()))) throw notFound('session')
  await rightsChanged()
}

export async function endOtherSessions({ db, clock, rightsChanged }: SignInPlatform, { userId, sessionId }: Oneself): Promise<void> {
  await sessions.endOthers(db, userId, sessionId, clock.now())
  await rightsChanged()
}
