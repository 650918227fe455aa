/** Passkeys by WebAuthn: what a browser is asked to sign, and whether it did. */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { problem } from '#core/problem.ts'
import type { Clock } from '#core/clock.ts'
import type { Db } from '#db/tables.ts'
import * as passkeys from '#model/identity/passkey.ts'
import type { User } from '#model/identity/user.ts'

/** The web site that passkeys are bound to: its host name and its origin. */
export interface Site {
  id: string
  origin: string
}

/** Loaded with the first passkey: it is large, and most calls never need it. */
const webAuthn = () => import('@simplewebauthn/server')

const SERVICE_NAME = 'Groundtrack'
const MAX_PASSKEYS = 20
const TIMEOUT_MS = 300_000
/** ES256, EdDSA and RS256 (COSE): what authenticators have. */
const ALGORITHMS = [-7, -8, -257]

export function requireSite(site: Site | null): Site {
  if (!site)
    throw problem('bad-request', 'Passkeys require a host name, and this service is addressed by an IP address. Use its host name.')
  return site
}

const idsOf = (known: readonly passkeys.Passkey[]) => known.map(({ credentialId, transports }) => ({ id: credentialId, transports }))

/** What `navigator.credentials.create` takes. */
export async function registrationOptions(db: Db, user: User, site: Site) {
  const known = await passkeys.list(db, user.id)
  if (known.length >= MAX_PASSKEYS)
    throw problem('bad-request', `An account can have ${MAX_PASSKEYS} passkeys; remove one that is no longer used`)
  const { generateRegistrationOptions } = await webAuthn()
  return await generateRegistrationOptions({
    rpName: SERVICE_NAME,
    rpID: site.id,
    userID: new Uint8Array(Buffer.from(user.id.replaceAll('-', ''), 'hex')),
    userName: user.email,
    userDisplayName: user.name,
    timeout: TIMEOUT_MS,
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: idsOf(known),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  })
}

/** The passkey that a browser created; null if the response does not answer the challenge. */
export async function registered(
  response: object,
  { challenge, site, userId, name }: { challenge: string; site: Site; userId: string; name: string },
): Promise<passkeys.NewPasskey | null> {
  const { verifyRegistrationResponse } = await webAuthn()
  const result = await verifyRegistrationResponse({
    response: response as RegistrationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: site.origin,
    expectedRPID: site.id,
    requireUserVerification: false,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => null) // Every malformed response throws.
  if (!result?.verified) return null
  const { credential, credentialBackedUp } = result.registrationInfo
  return {
    userId,
    name,
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey),
    counter: credential.counter,
    transports: credential.transports ?? [],
    isSynced: credentialBackedUp,
  }
}

/** What `navigator.credentials.get` takes. Without a user, the browser offers the passkeys that it has for this site. */
export async function authenticationOptions(db: Db, userId: string | null, site: Site) {
  const { generateAuthenticationOptions } = await webAuthn()
  return await generateAuthenticationOptions({
    rpID: site.id,
    timeout: TIMEOUT_MS,
    ...(userId === null ? {} : { allowCredentials: idsOf(await passkeys.list(db, userId)) }),
    userVerification: userId === null ? 'required' : 'preferred',
  })
}

/**
 * The passkey that has signed the challenge; null if none has. With `userId`, it must be one of that user's. Without a password before,
 * the authenticator must have verified its user, by a fingerprint or a PIN.
 */
export async function authenticated(
  { db, clock }: { db: Db; clock: Clock },
  response: object,
  { challenge, site, userId }: { challenge: string; site: Site; userId: string | null },
): Promise<passkeys.Passkey | null> {
  const { id } = response as Partial<AuthenticationResponseJSON>
  const known = typeof id === 'string' ? await passkeys.findByCredential(db, id) : null
  if (!known || (userId !== null && known.userId !== userId)) return null
  const { verifyAuthenticationResponse } = await webAuthn()
  const result = await verifyAuthenticationResponse({
    response: response as AuthenticationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: site.origin,
    expectedRPID: site.id,
    credential: { id: known.credentialId, publicKey: new Uint8Array(known.publicKey), counter: known.counter },
    requireUserVerification: userId === null,
  }).catch(() => null) // Every malformed response throws.
  if (!result?.verified) return null
  const { newCounter, credentialBackedUp } = result.authenticationInfo
  await passkeys.recordUse(db, known.id, { counter: newCounter, isSynced: credentialBackedUp }, clock.now())
  return known
}
