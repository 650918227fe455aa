/** Domains that an organization has shown to be its own, by a record in the DNS that only their owner can make. */
import { randomBytes } from 'node:crypto'
import { domainToASCII } from 'node:url'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'

const COLUMNS = ['domain', 'token', 'verified_at as verifiedAt', 'checked_at as checkedAt', 'created_at as createdAt'] as const

export type Domain = Row<'sso_domain', typeof COLUMNS>

export const MAX_DOMAINS = 20
const TOKEN_BYTES = 18
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const MAX_DOMAIN_LENGTH = 253

/** As the DNS knows it; null if it is not the name of a domain. */
export function normalise(domain: string): string | null {
  const ascii = domainToASCII(domain.trim().toLowerCase().replace(/\.$/, ''))
  const labels = ascii.split('.')
  const isName = labels.length >= 2 && labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1)!)
  return isName && ascii.length <= MAX_DOMAIN_LENGTH ? ascii : null
}

/** The domain of an email address; null if it has none. */
export function domainOf(email: string): string | null {
  return normalise(email.slice(email.lastIndexOf('@') + 1))
}

/** Where the record is, and what it says. */
export const recordName = (domain: string): string => `_groundtrack.${domain}`
export const recordText = (token: string): string => `groundtrack-verification=${token}`

export async function list(db: Db, organizationId: string): Promise<Domain[]> {
  return await db.selectFrom('sso_domain').select(COLUMNS).where('org_id', '=', organizationId).orderBy('domain').execute()
}

export async function find(db: Db, organizationId: string, domain: string): Promise<Domain | null> {
  const row = await db
    .selectFrom('sso_domain')
    .select(COLUMNS)
    .where('org_id', '=', organizationId)
    .where('domain', '=', domain)
    .executeTakeFirst()
  return row ?? null
}

/** The same token again for a domain that is there, so that a record made for it stays valid. */
export async function add(tx: Tx, organizationId: string, domain: string, now: Date): Promise<Domain> {
  await tx
    .insertInto('sso_domain')
    .values({ org_id: organizationId, domain, token: randomBytes(TOKEN_BYTES).toString('base64url'), created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await find(tx, organizationId, domain))!
}

/** A record that is gone ends the verification. Returns null if the domain was removed. */
export async function setVerified(tx: Tx, organizationId: string, domain: string, isVerified: boolean, now: Date): Promise<Domain | null> {
  const before = await find(tx, organizationId, domain)
  const row = await tx
    .updateTable('sso_domain')
    .set({ verified_at: isVerified ? (before?.verifiedAt ?? now) : null, checked_at: now })
    .where('org_id', '=', organizationId)
    .where('domain', '=', domain)
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? null
}

export async function remove(tx: Tx, organizationId: string, domain: string): Promise<boolean> {
  const result = await tx.deleteFrom('sso_domain').where('org_id', '=', organizationId).where('domain', '=', domain).executeTakeFirst()
  return result.numDeletedRows === 1n
}

export async function removeAll(tx: Tx, organizationId: string): Promise<void> {
  await tx.deleteFrom('sso_domain').where('org_id', '=', organizationId).execute()
}

export async function isVerified(db: Db, organizationId: string, domain: string): Promise<boolean> {
  return (await find(db, organizationId, domain))?.verifiedAt != null
}

/** Organizations with a provider of their own that have verified a domain, by name. */
export async function organizationsOf(db: Db, domain: string): Promise<{ id: string; name: string }[]> {
  return await db
    .selectFrom('sso_domain as d')
    .innerJoin('sso_connection as c', 'c.org_id', 'd.org_id')
    .innerJoin('organization as o', 'o.id', 'd.org_id')
    .select(['d.org_id as id', 'o.name'])
    .where('d.domain', '=', domain)
    .where('d.verified_at', 'is not', null)
    .orderBy('o.name')
    .orderBy('d.org_id')
    .execute()
}
