/** What users do with a link from an email: choose a new password, confirm their address. */
import { problem, type Problem } from '#core/problem.ts'
import type { NotificationMail } from '#core/vocabulary.ts'
import * as emailChanges from '#model/identity/email-change.ts'
import * as mailTokens from '#model/identity/mail-token.ts'
import * as sessions from '#model/identity/session.ts'
import * as challenges from '#model/identity/sign-in-challenge.ts'
import * as users from '#model/identity/user.ts'
import * as notifications from '#model/events/notification.ts'
import { requireUsable } from './passwords.ts'
import { throttle, type SignInPlatform } from './sign-in.ts'
import { verifyAddress } from './verification.ts'

/** Emails that one client address can request, and that one account can receive. */
const ASKED_PER_ADDRESS = 30
const SENT_PER_ACCOUNT = 5

/** Queues the email whether or not there is an account, so that neither the response nor its timing reveals it. */
export async function forgot(platform: SignInPlatform, email: string, clientAddress: string): Promise<void> {
  await throttle(platform, `forgot-from:${clientAddress}`, ASKED_PER_ADDRESS)
  const address = users.normaliseEmail(email)
  const isFull = await throttle(platform, `forgot:${address}`, SENT_PER_ACCOUNT).then(
    () => false,
    () => true,
  )
  if (!isFull) await platform.db.transaction().execute((tx) => platform.mails.reset(tx, address))
}

/** Ends every session, in case somebody knew the old password. Using the link also proves that the user owns the address. */
export async function reset(platform: SignInPlatform, input: { token: string; password: string }, clientAddress: string): Promise<void> {
  const { db, clock, newPasswords } = platform
  requireUsable(input.password)
  await throttle(platform, `reset-from:${clientAddress}`, ASKED_PER_ADDRESS)
  const passwordHash = await newPasswords.hash(input.password, clientAddress)
  await db.transaction().execute(async (tx) => {
    const now = clock.now()
    const userId = await mailTokens.spend(tx, input.token, 'reset', now)
    if (!userId) throw spent()
    await users.setPassword(tx, userId, passwordHash)
    await verifyAddress(tx, userId, null, now)
    await sessions.endAllOfUser(tx, userId, now)
    await challenges.endAllOf(tx, userId)
    await emailChanges.withdraw(tx, userId)
  })
  await platform.rightsChanged()
}

export async function confirm({ db, clock, rightsChanged }: SignInPlatform, token: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const userId = await mailTokens.spend(tx, token, 'confirm', clock.now())
    if (!userId) throw spent()
    await verifyAddress(tx, userId, null, clock.now())
  })
  await rightsChanged()
}

export async function mailChoice({ db }: SignInPlatform, userId: string): Promise<{ notification_mail: NotificationMail }> {
  return { notification_mail: await users.notificationMail(db, userId) }
}

/** Applies from now on: notifications that are already in the inbox are not emailed later. */
export async function chooseMail({ db, clock }: SignInPlatform, userId: string, choice: NotificationMail): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await notifications.skipMail(tx, userId, clock.now())
    await users.setNotificationMail(tx, userId, choice)
  })
}

const spent = (): Problem => problem('bad-request', 'This link was already used or has expired; request a new email')
