/** How an organization pays: its wallet, its billing mode, and who can manage them. */
import { isOrganizationAdmin, type Principal } from '#core/principal.ts'
import { accessDenied } from '#core/problem.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { BillingMode } from '#db/tables/money.ts'
import { MODE, requireOrganization } from '#model/identity/organization.ts'

export async function hasDefaultCard(db: Db, organizationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('payment_method')
    .select('id')
    .where('org_id', '=', organizationId)
    .where('is_default', '=', true)
    .executeTakeFirst()
  return row !== undefined
}

/** Owners, admins and the billing admin; also the service itself when it acts for an organization. */
export async function requireBillingAdmin(db: Db, principal: Principal): Promise<string> {
  const organizationId = requireOrganization(principal)
  if (isOrganizationAdmin(principal) || principal.kind === 'service') return organizationId
  const { billingAdminId } = await db
    .selectFrom('organization')
    .select('billing_admin_id as billingAdminId')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow()
  if (billingAdminId === null || billingAdminId !== principal.userId) throw accessDenied()
  return organizationId
}

export async function billingModeOf(db: Db, organizationId: string): Promise<BillingMode> {
  const { mode } = await db.selectFrom('organization').select(MODE.as('mode')).where('id', '=', organizationId).executeTakeFirstOrThrow()
  return mode
}

/** Whether the wallet ever contained credits, including spent ones. */
export async function isFunded(db: Db, organizationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('wallet')
    .select('org_id')
    .where('org_id', '=', organizationId)
    .where('is_funded', '=', true)
    .executeTakeFirst()
  return row !== undefined
}

const WALLET = [
  'available',
  'reserved',
  'customer_id as customerId',
  'auto_enabled as autoEnabled',
  'auto_threshold as autoThresholdCredits',
  'auto_amount as autoAmountCredits',
  'auto_daily_cap_cents as autoDailyCapCents',
  'auto_attempted_at as autoAttemptedAt',
] as const

export type Wallet = Row<'wallet', typeof WALLET>

const EMPTY: Wallet = {
  available: 0,
  reserved: 0,
  customerId: null,
  autoEnabled: false,
  autoThresholdCredits: null,
  autoAmountCredits: null,
  autoDailyCapCents: null,
  autoAttemptedAt: null,
}

const wallets = (db: Db, organizationId: string) => db.selectFrom('wallet').select(WALLET).where('org_id', '=', organizationId)

/** An organization without any payment activity has no row yet. */
export async function walletOf(db: Db, organizationId: string): Promise<Wallet> {
  return (await wallets(db, organizationId).executeTakeFirst()) ?? EMPTY
}

/** Serializes changes to an organization's credits, cards and automatic top-up. */
export async function lockWallet(tx: Tx, organizationId: string): Promise<Wallet> {
  await tx
    .insertInto('wallet')
    .values({ org_id: organizationId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return await wallets(tx, organizationId).forUpdate().executeTakeFirstOrThrow()
}
