import { sql } from 'kysely'
import { newId, isUuid } from '#core/ids.ts'
import { isOrganizationAdmin, type Principal } from '#core/principal.ts'
import { accessDenied, problem } from '#core/problem.ts'
import type { InvitedRole } from '#core/vocabulary.ts'
import type { Joined, Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { BillingMode } from '#db/tables/money.ts'
import { HAS_TWO_FACTORS } from './two-factor-rule.ts'

const COLUMNS = [
  'id',
  'name',
  'slug',
  'description',
  'website',
  'industry',
  'size',
  'country',
  'abn',
  'tax_number as taxNumber',
  'billing_email as billingEmail',
  'billing_admin_id as billingAdminId',
  'billing_address as billingAddress',
  'default_project_id as defaultProjectId',
  'enterprise_status as enterpriseStatus',
  'plan_id as planId',
  'allows_public_links as allowsPublicLinks',
  'created_at as createdAt',
] as const

export type Organization = Row<'organization', typeof COLUMNS> & { billingMode: BillingMode }

/** Enterprise if confirmed; otherwise wallet if it ever held credits or the plan is paid; otherwise card. */
export const MODE = sql<BillingMode>`case
  when organization.enterprise_status = 'confirmed' then 'enterprise'
  when organization.plan_id <> 'free' or exists (select from wallet where wallet.org_id = organization.id and wallet.is_funded)
    then 'credit'
  else 'card' end`

/** The organization the caller acts for. */
export function requireOrganization(principal: Principal): string {
  if (!principal.organizationId)
    throw problem('organization-required', 'This operation requires an organization. Create one or accept an invitation.')
  return principal.organizationId
}

/** An organization named in the body must be the caller's own; the response does not reveal whether another exists. */
export function requireNamedOrganization(principal: Principal, named: string): string {
  const own = requireOrganization(principal)
  if (named.toLowerCase() !== own) throw accessDenied()
  return own
}

export function requireAdmin(principal: Principal): void {
  if (!isOrganizationAdmin(principal)) throw accessDenied()
}

/** The fields that the organization maintains. */
type Profile = Omit<
  Organization,
  'id' | 'slug' | 'defaultProjectId' | 'enterpriseStatus' | 'planId' | 'allowsPublicLinks' | 'billingMode' | 'createdAt'
>
export type NewOrganization = Profile & { enterpriseRequested: boolean }

export async function insert(tx: Tx, ownerId: string, organization: NewOrganization, now: Date): Promise<Organization> {
  const id = newId()
  const row = await tx
    .insertInto('organization')
    .values({
      id,
      name: organization.name,
      slug: slugOf(organization.name, id),
      description: organization.description,
      website: organization.website,
      industry: organization.industry,
      size: organization.size,
      country: organization.country,
      abn: organization.abn,
      tax_number: organization.taxNumber,
      billing_email: organization.billingEmail,
      billing_admin_id: organization.billingAdminId,
      billing_address: organization.billingAddress ? JSON.stringify(organization.billingAddress) : null,
      enterprise_status: organization.enterpriseRequested ? 'requested' : 'none',
      founded_by: ownerId,
      retention_since: now,
      created_at: now,
      updated_at: now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  await tx.insertInto('organization_member').values({ org_id: id, user_id: ownerId, role: 'owner', created_at: now }).execute()
  await tx.insertInto('organization_plan').values({ org_id: id, plan_id: row.planId, started_at: now, changed_by: ownerId }).execute()
  await tx.insertInto('storage_account').values({ org_id: id }).execute()
  await tx.insertInto('egress_account').values({ org_id: id }).execute()
  return { ...row, billingMode: 'card' }
}

/** Each includes the quotas of the free plan; more organizations require a paid plan. */
const MAX_FREE_ORGANIZATIONS = 3

/** 400 if the user owns the maximum number of free organizations. Locks the user's row, so that concurrent calls are counted. */
export async function requireCanCreate(tx: Tx, ownerId: string): Promise<void> {
  await sql`select 1 from app_user where id = ${ownerId} for no key update`.execute(tx)
  const { owned } = await tx
    .selectFrom('organization_member as m')
    .innerJoin('organization as o', 'o.id', 'm.org_id')
    .select((e) => e.fn.countAll<number>().as('owned'))
    .where('m.user_id', '=', ownerId)
    .where('m.role', '=', 'owner')
    .where('o.plan_id', '=', 'free')
    .executeTakeFirstOrThrow()
  if (owned >= MAX_FREE_ORGANIZATIONS)
    throw problem(
      'bad-request',
      `You can own at most ${MAX_FREE_ORGANIZATIONS} organizations on the free plan. Upgrade one with billing.plan.change first.`,
    )
}

/** Readable, and unique without a query because it contains part of the ID. */
function slugOf(name: string, id: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40)
  return `${words || 'organization'}-${id.slice(-6)}`
}

export async function get(db: Db, id: string): Promise<Organization> {
  return await db
    .selectFrom('organization')
    .select([...COLUMNS, MODE.as('billingMode')])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}

/** Fields that are undefined stay as they are. */
interface OrganizationChange {
  name: string | undefined
  description: string | null | undefined
  website: string | null | undefined
  abn: string | null | undefined
  billingEmail: string | null | undefined
  defaultProjectId: string | null | undefined
}

export async function update(tx: Tx, id: string, change: OrganizationChange, now: Date): Promise<Organization> {
  const { name, description, website, abn, billingEmail, defaultProjectId } = change
  await tx
    .updateTable('organization')
    .set({ updated_at: now })
    .$if(name !== undefined, (query) => query.set({ name: name! }))
    .$if(description !== undefined, (query) => query.set({ description: description! }))
    .$if(website !== undefined, (query) => query.set({ website: website! }))
    .$if(abn !== undefined, (query) => query.set({ abn: abn! }))
    .$if(billingEmail !== undefined, (query) => query.set({ billing_email: billingEmail! }))
    .$if(defaultProjectId !== undefined, (query) => query.set({ default_project_id: defaultProjectId! }))
    .where('id', '=', id)
    .execute()
  return await get(tx, id)
}

/** A project that has ended is suggested no longer. */
export async function forgetDefaultProject(tx: Tx, id: string, projectId: string): Promise<void> {
  await tx
    .updateTable('organization')
    .set({ default_project_id: null })
    .where('id', '=', id)
    .where('default_project_id', '=', projectId)
    .execute()
}

export async function exists(db: Db, id: string): Promise<boolean> {
  return isUuid(id) && (await db.selectFrom('organization').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
}

/** Keeps the row, which invoices and audit entries refer to, and erases the profile. */
export async function erase(tx: Tx, id: string, now: Date): Promise<void> {
  await tx
    .updateTable('organization')
    .set({
      name: 'Deleted organization',
      slug: `deleted-${id}`,
      description: null,
      website: null,
      industry: null,
      size: null,
      country: null,
      abn: null,
      tax_number: null,
      billing_email: null,
      billing_admin_id: null,
      billing_address: null,
      default_project_id: null,
      updated_at: now,
      deleted_at: now,
    })
    .where('id', '=', id)
    .execute()
}

/** The operator confirms or ends enterprise billing; the billing mode follows. */
export async function setEnterprise(tx: Tx, id: string, confirmed: boolean, now: Date): Promise<void> {
  await tx
    .updateTable('organization')
    .set({ enterprise_status: confirmed ? 'confirmed' : 'none', updated_at: now })
    .where('id', '=', id)
    .execute()
}

/** Links without a password work only while this is allowed. */
export async function setPublicLinks(tx: Tx, id: string, isAllowed: boolean, now: Date): Promise<void> {
  await tx.updateTable('organization').set({ allows_public_links: isAllowed, updated_at: now }).where('id', '=', id).execute()
}

/** Locked until the end of the transaction, so that no public link is created after they were forbidden. */
export async function allowsPublicLinks(tx: Tx, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('organization')
    .select('allows_public_links as allowed')
    .where('id', '=', id)
    .forShare()
    .executeTakeFirst()
  return row?.allowed ?? false
}

function members(db: Db, organizationId: string) {
  return db
    .selectFrom('organization_member as m')
    .innerJoin('app_user as u', 'u.id', 'm.user_id')
    .select([
      'm.user_id as userId',
      'u.email',
      'u.name',
      'm.role',
      'm.per_order_limit_credits as perOrderLimitCredits',
      'm.spend_limit_credits as spendLimitCredits',
      HAS_TWO_FACTORS.as('hasTwoFactors'),
    ])
    .where('m.org_id', '=', organizationId)
}

export type Member = Joined<typeof members>

export async function listMembers(db: Db, organizationId: string): Promise<Member[]> {
  return await members(db, organizationId).orderBy('m.created_at').orderBy('m.user_id').execute()
}

export async function findMember(db: Db, organizationId: string, userId: string): Promise<Member | null> {
  if (!isUuid(userId)) return null
  return (await members(db, organizationId).where('m.user_id', '=', userId).executeTakeFirst()) ?? null
}

export async function findMemberByEmail(db: Db, organizationId: string, email: string): Promise<Member | null> {
  return (await members(db, organizationId).where('u.email', '=', email).executeTakeFirst()) ?? null
}

/** An existing member becomes an admin if invited as one; accepting an invitation never lowers a role. */
export async function addMember(tx: Tx, organizationId: string, userId: string, role: InvitedRole, now: Date): Promise<void> {
  await sql`
    insert into organization_member as m (org_id, user_id, role, created_at) values (${organizationId}, ${userId}, ${role}, ${now})
    on conflict (org_id, user_id) do update set role = excluded.role where m.role = 'member'
  `.execute(tx)
}

/** Fails if the member has left meanwhile. */
export async function setSpendLimits(
  tx: Tx,
  organizationId: string,
  userId: string,
  limits: { perOrder: number | null; rolling: number | null },
): Promise<boolean> {
  const result = await tx
    .updateTable('organization_member')
    .set({ per_order_limit_credits: limits.perOrder, spend_limit_credits: limits.rolling })
    .where('org_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}
