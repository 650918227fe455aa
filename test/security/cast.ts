/** Every kind of caller, and two organizations that must not see each other. */
import { newId } from '#core/ids.ts'
import type { World, Org, Person } from '../support/world.ts'

export const STAFF_EMAIL = 'staff@example.com'
export const CLIP_EMAIL = 'clip@example.com'

export const PRINCIPALS = [
  // No usable credential.
  'none',
  'garbage',
  'revoked',
  'expired',
  // People of organization A.
  'owner',
  'admin',
  'member',
  'clip',
  // The owner of organization B, and a person without any.
  'foreign',
  'loner',
  // Keys of the owner of A.
  'read',
  'write',
  'process',
  // The platform's own.
  'worker',
  'service',
  'service of A',
  'staff',
] as const
export type PrincipalName = (typeof PRINCIPALS)[number]

interface Cast {
  a: Org
  b: Org
  people: Record<'admin' | 'member' | 'clip' | 'loner' | 'staff', Person>
  credential(name: PrincipalName): string | null
}

/** The world must have been made with STAFF_EMAIL and CLIP_EMAIL in their roles. */
export async function cast(w: World): Promise<Cast> {
  const expiring = await w.organization('A') // Its key runs out below; the clock moves before anybody else signs in.
  const expired = (await w.key(expiring.owner.token, ['read', 'write', 'process'], { expires_in_days: 1 })).key
  w.clock.advance({ days: 1 })
  const a = { ...expiring, owner: await w.signIn(expiring.owner, expiring.id) }
  const b = await w.organization('B')
  const admin = await w.member(a, 'viewer')
  await w.db.updateTable('organization_member').set({ role: 'admin' }).where('user_id', '=', admin.id).execute()
  const member = await w.member(a, 'viewer')
  const clip = await w.join(await w.person(CLIP_EMAIL), a, 'viewer')
  const loner = await w.person()
  const staff = await w.person(STAFF_EMAIL)
  const revoked = await w.key(a.owner.token, ['read', 'write', 'process'])
  await w.ok(a.owner.token, 'api_keys.revoke', { key_id: revoked.id })
  const credentials: Record<PrincipalName, string | null> = {
    none: null,
    garbage: 'eyJhbGciOiJub25lIn0.e30.',
    revoked: revoked.key,
    expired,
    owner: a.owner.token,
    admin: admin.token,
    member: member.token,
    clip: clip.token,
    foreign: b.owner.token,
    loner: loner.token,
    staff: staff.token,
    read: (await w.key(a.owner.token, ['read'])).key,
    write: (await w.key(a.owner.token, ['write'])).key,
    process: (await w.key(a.owner.token, ['process'])).key,
    worker: await w.workerToken(a.id, newId()),
    service: await w.serviceToken(null),
    'service of A': await w.serviceToken(a.id),
  }
  return { a, b, people: { admin, member, clip, loner, staff }, credential: (name) => credentials[name] }
}

/** A problem without what identifies the single call. */
export function withoutInstance(bytes: Buffer): string {
  return bytes.toString().replace(/"instance":"urn:uuid:[0-9a-f-]{36}"/, '"instance":""')
}
