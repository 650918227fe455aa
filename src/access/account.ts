/** What signed-in users do with their own account: join an organization, change the password, list and end sessions. */
import { deviceName } from '#core/device-name.ts'
import { notFound, problem } from '#core/problem.ts'
import * as notifications from '#model/events/notification.ts'
import * as emailChanges from '#model/identity/email-change.ts'
import * as invitations from '#model/identity/invitation.ts'
import * as sessions from '#model/identity/session.ts'
import * as challenges from '#model/identity/sign-in-challenge.ts'
import * as users from '#model/identity/user.ts'
import type { Tx } from '#db/tables.ts'
import { announce } from './account-events.ts'
import { requireUsable } from './passwords.ts'
import { isRight, type SignInPlatform } from './sign-in.ts'
import { verifyAddress } from './verification.ts'

/** The signed-in user, the session and the client address. */
export interface Oneself {
  userId: string
  sessionId: string
  clientAddress: string
}

const MAX_SESSIONS_LISTED = 100

const NO_INVITATION = 'invitation: it was used, withdrawn or has expired; ask for a new link'

/** What the holder of an invitation link sees before they accept it. The token is the secret, so nobody has to be signed in. */
export async function previewInvitation({ db, clock }: Pick<SignInPlatform, 'db' | 'clock'>, token: string) {
  const invitation = await invitations.findByToken(db, token, clock.now())
  if (!invitation) throw notFound(NO_INVITATION)
  const { organization, organizationRole, project, projectRole, inviter, email, expiresAt } = invitation
  return {
    organization,
    role: organizationRole,
    ...(project && projectRole ? { project, project_role: projectRole } : {}),
    inviter,
    email,
    expires_at: expiresAt.toISOString(),
  }
}

/** Adds the user to the organization and project of the invitation. Only the token can do this, never an email address or a user ID. */
export async function acceptInvitation({ db, clock, rightsChanged }: SignInPlatform, { userId, sessionId }: Oneself, token: string) {
  const accepted = await db.transaction().execute(async (tx) => {
    const joined = await invitations.accept(tx, token, userId, clock.now())
    if (joined) await welcome(tx, joined, { userId, sessionId }, clock.now())
    return joined
  })
  if (!accepted) throw notFound(NO_INVITATION)
  if (accepted.wasMailed) await rightsChanged()
  return {
    organization_id: accepted.organizationId,
    ...(accepted.projectId ? { project_id: accepted.projectId } : {}),
    role: accepted.role ?? accepted.organizationRole,
  }
}

/** The link in the email also proves that the user owns the address; the inviter is notified. */
async function welcome(
  tx: Tx,
  { id, organizationId, email, invitedBy, wasMailed }: invitations.Accepted,
  { userId, sessionId }: Pick<Oneself, 'userId' | 'sessionId'>,
  now: Date,
) {
  const who = (await users.find(tx, userId))!
  if (wasMailed && who.email === email) await verifyAddress(tx, userId, sessionId, now)
  if (!invitedBy) return
  const news: notifications.NewNotification = {
    kind: 'invitation',
    title: `${who.name} has joined`,
    body: `${who.name} (${who.email}) accepted your invitation${who.email === email ? '' : `, which went to ${email}`}.`,
    dedupeKey: `joined:${id}`,
  }
  await notifications.notify(tx, organizationId, { userId: invitedBy }, [news], now)
}

/** A stolen token must not be enough for lasting changes, so they require the password. Failures count as at sign-in. */
export async function requirePassword(platform: SignInPlatform, { userId, clientAddress }: Oneself, password: string): Promise<users.User> {
  const who = (await users.find(platform.db, userId))!
  const { passwordHash } = (await users.findByEmail(platform.db, who.email))!
  if (await isRight(platform, { email: who.email, password, hash: passwordHash }, clientAddress)) return who
  throw problem('forbidden', 'The current password is wrong')
}

/** Ends every other session, in case somebody knew the old password. API keys keep working. */
export async function changePassword(
  platform: SignInPlatform,
  oneself: Oneself,
  input: { password: string; new_password: string },
): Promise<void> {
  requireUsable(input.new_password, 'new_password')
  const who = await requirePassword(platform, oneself, input.password)
  const passwordHash = await platform.newPasswords.hash(input.new_password, oneself.clientAddress)
  await platform.db.transaction().execute(async (tx) => {
    await users.setPassword(tx, who.id, passwordHash)
    await sessions.endOthers(tx, who.id, oneself.sessionId, platform.clock.now())
    await challenges.endAllOf(tx, who.id)
    await emailChanges.withdraw(tx, who.id)
    await announce(platform, tx, who, 'password_changed')
  })
}

export async function listSessions({ db, clock }: SignInPlatform, { userId, sessionId }: Oneself) {
  const live = await sessions.listLive(db, userId, MAX_SESSIONS_LISTED, clock.now())
  return {
    sessions: live.map((session) => ({
      id: session.id,
      organization_id: session.organizationId,
      device: deviceName(session.userAgent),
      address: session.address,
      created_at: session.createdAt.toISOString(),
      last_used_at: session.lastUsedAt.toISOString(),
      expires_at: session.expiresAt.toISOString(),
      is_current: session.id === sessionId,
    })),
  }
}

/** Ends this session too. API keys keep working; they are revoked individually. */
export async function signOutEverywhere({ db, clock }: SignInPlatform, { userId }: Oneself): Promise<void> {
  await sessions.endAllOfUser(db, userId, clock.now())
}
