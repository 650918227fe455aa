/** Turning two-factor sign-in on and off: an authenticator app, passkeys and recovery codes. */
import { notFound, problem } from '#core/problem.ts'
import { uriOf } from '#core/totp.ts'
import type { Tx } from '#db/tables.ts'
import * as passkeys from '#model/identity/passkey.ts'
import * as secondFactors from '#model/identity/second-factor.ts'
import * as sessions from '#model/identity/session.ts'
import * as challenges from '#model/identity/sign-in-challenge.ts'
import * as users from '#model/identity/user.ts'
import { announce } from './account-events.ts'
import type { Oneself } from './account.ts'
import { registered, registrationOptions, requireSite, type Site } from './passkeys.ts'
import { requirePresence, type Proof } from './second-step.ts'
import type { SignInPlatform } from './sign-in.ts'

type Presence = Proof & { password?: string | undefined }

const ISSUER = 'Groundtrack'

export async function twoFactors({ db }: SignInPlatform, userId: string) {
  const standing = await secondFactors.standingOf(db, userId)
  return {
    is_on: secondFactors.isOn(standing),
    authenticator: standing.totpSince ? { created_at: standing.totpSince.toISOString() } : null,
    passkeys: (await passkeys.list(db, userId)).map(toRecord),
    recovery_codes_left: standing.recoveryCodesLeft,
    required_by: await secondFactors.requiredBy(db, userId),
  }
}

const toRecord = ({ id, name, isSynced, createdAt, lastUsedAt }: passkeys.Passkey) => ({
  id,
  name,
  is_synced: isSynced,
  created_at: createdAt.toISOString(),
  last_used_at: lastUsedAt?.toISOString() ?? null,
})

/** The secret counts once a code has confirmed that the app has it. */
export async function startAuthenticator(platform: SignInPlatform, oneself: Oneself, presence: Presence, site: Site | null) {
  const { id, email } = await requirePresence(platform, oneself, presence, site)
  const secret = await secondFactors.startTotp(platform.db, platform.secrets, id, platform.clock.now())
  return { secret, uri: uriOf(secret, email, ISSUER) }
}

export async function confirmAuthenticator(platform: SignInPlatform, oneself: Oneself, code: string) {
  const { db, clock, secrets } = platform
  const codes = await db.transaction().execute(async (tx) => {
    const before = await secondFactors.standingOf(tx, oneself.userId)
    if (!(await secondFactors.confirmTotp(tx, secrets, oneself.userId, code.replaceAll(/\s/g, ''), clock.now())))
      throw problem('wrong-second-factor', 'The code does not belong to the new secret; check the clock of the device, or begin again')
    return await added(platform, tx, oneself, { before, notice: 'authenticator_added' })
  })
  await platform.rightsChanged()
  return { recovery_codes: codes }
}

export async function startPasskey(platform: SignInPlatform, oneself: Oneself, presence: Presence, site: Site | null) {
  const { db, clock } = platform
  const here = requireSite(site)
  const who = await requirePresence(platform, oneself, presence, site)
  const options = await registrationOptions(db, who, here)
  const challenge = { userId: who.id, purpose: 'new_passkey', challenge: options.challenge } as const
  return { challenge_token: await challenges.issue(db, challenge, clock.now()), options }
}

export async function addPasskey(
  platform: SignInPlatform,
  oneself: Oneself,
  input: { challenge_token: string; credential: object; name: string },
  site: Site | null,
) {
  const { db, clock } = platform
  const { userId } = oneself
  const challenge = await challenges.find(db, input.challenge_token, 'new_passkey', clock.now())
  if (challenge?.userId !== userId || !(await challenges.spend(db, input.challenge_token)))
    throw problem('bad-request', 'The registration has expired or was completed; begin again')
  const asked = { challenge: challenge.challenge!, site: requireSite(site), userId, name: input.name.trim() }
  const passkey = await registered(input.credential, asked)
  if (!passkey) throw problem('bad-request', 'The browser returned no valid passkey for this service; begin again')
  const result = await db.transaction().execute(async (tx) => {
    const before = await secondFactors.standingOf(tx, userId)
    const inserted = await passkeys.insert(tx, passkey, clock.now())
    if (!inserted) throw problem('bad-request', 'This passkey is registered already')
    const codes = await added(platform, tx, oneself, { before, notice: 'passkey_added', detail: inserted.name })
    return { passkey: toRecord(inserted), recovery_codes: codes }
  })
  await platform.rightsChanged()
  return result
}

interface Addition {
  before: secondFactors.Standing
  notice: 'authenticator_added' | 'passkey_added'
  detail?: string | null
}

/** With the first factor come recovery codes, and every other session ends: it was opened with the password alone. */
async function added(
  platform: SignInPlatform,
  tx: Tx,
  { userId, sessionId }: Oneself,
  { before, notice, detail = null }: Addition,
): Promise<string[] | null> {
  const now = platform.clock.now()
  await announce(platform, tx, (await users.find(tx, userId))!, notice, detail)
  if (secondFactors.isOn(before)) return null
  await sessions.endOthers(tx, userId, sessionId, now)
  return await secondFactors.renewRecoveryCodes(tx, userId, now)
}

export async function removeAuthenticator(platform: SignInPlatform, oneself: Oneself, proof: Proof, site: Site | null): Promise<void> {
  const who = await requirePresence(platform, oneself, proof, site)
  await platform.db.transaction().execute(async (tx) => {
    if (!(await secondFactors.removeTotp(tx, who.id))) throw notFound('authenticator app')
    await removed(platform, tx, who, 'authenticator_removed')
  })
  await platform.rightsChanged()
}

export async function removePasskey(
  platform: SignInPlatform,
  oneself: Oneself,
  { passkey_id, ...proof }: Proof & { passkey_id: string },
  site: Site | null,
): Promise<void> {
  const who = await requirePresence(platform, oneself, proof, site)
  await platform.db.transaction().execute(async (tx) => {
    const name = await passkeys.remove(tx, who.id, passkey_id)
    if (name === null) throw notFound('passkey')
    await removed(platform, tx, who, 'passkey_removed', name)
  })
  await platform.rightsChanged()
}

/** The last factor stays while an organization requires two; without one, recovery codes are useless. */
async function removed(
  platform: SignInPlatform,
  tx: Tx,
  who: users.User,
  notice: 'authenticator_removed' | 'passkey_removed',
  detail: string | null = null,
): Promise<void> {
  if (!secondFactors.isOn(await secondFactors.standingOf(tx, who.id))) {
    const [organization] = await secondFactors.requiredBy(tx, who.id)
    if (organization !== undefined)
      throw problem('bad-request', `'${organization}' requires two-factor sign-in: add another factor first, then remove this one`)
    await secondFactors.removeAll(tx, who.id)
  }
  await announce(platform, tx, who, notice, detail)
}

export async function renewRecoveryCodes(platform: SignInPlatform, oneself: Oneself, presence: Presence, site: Site | null) {
  const who = await requirePresence(platform, oneself, presence, site)
  return await platform.db.transaction().execute(async (tx) => {
    if (!secondFactors.isOn(await secondFactors.standingOf(tx, who.id)))
      throw problem('bad-request', 'Recovery codes replace a second factor, and this account has none; add one first')
    await announce(platform, tx, who, 'recovery_codes_renewed')
    return { recovery_codes: await secondFactors.renewRecoveryCodes(tx, who.id, platform.clock.now()) }
  })
}
