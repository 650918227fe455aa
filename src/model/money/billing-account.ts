/** How an organization pays: its wallet, its billing mode, and who may touch either. */
import { isOrganizationAdmin, type Principal } from '#core/principal.ts'
import { accessDenied } from '#core/problem.ts'
import type { BillingMode, Db } from '#db/tables.ts'
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

/** Owners, admins and the billing admin; the platform itself when it acts for an organization. */
export async function requireBillingAdmin(db: Db, principal: Principal): Promise<string> {
  const organizationId = requireOrganization(principal)
  if (isOrganizationAdmin(principal) || principal.kind === 'service') return organizationId
  const { billing_admin_id } = await db
    .selectFrom('organization')
    .select('billing_admin_id')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow()
  if (billing_admin_id === null || billing_admin_id !== principal.userId) throw accessDenied()
  return organizationId
}

export async function billingModeOf(db: Db, organizationId: string): Promise<BillingMode> {
  const { mode } = await db.selectFrom('organization').select(MODE.as('mode')).where('id', '=', organizationId).executeTakeFirstOrThrow()
  return mode
}

/** Whether the wallet ever had credits, spent ones too. */
export async function isFunded(db: Db, organizationId: string): Promise<boolean> {
  return (
    (await db
      .selectFrom('wallet')
      .select('org_id')
      .where('org_id', '=', organizationId)
      .where('is_funded', '=', true)
      .executeTakeFirst()) !== undefined
  )
}

export interface Wallet {
  available: number
  reserved: number
  customerId: string | null
  auto: AutoTopup & { attemptedAt: Date | null }
}

export interface AutoTopup {
  enabled: boolean
  thresholdCredits: number | null
  amountCredits: number | null
  dailyCapCents: number | null
}

const EMPTY: Wallet = {
  available: 0,
  reserved: 0,
  customerId: null,
  auto: { enabled: false, thresholdCredits: null, amountCredits: null, dailyCapCents: null, attemptedAt: null },
}

/** An organization that never had anything to do with money has no row yet. */
export async function walletOf(db: Db, organizationId: string): Promise<Wallet> {
  const row = await db.selectFrom('wallet').selectAll().where('org_id', '=', organizationId).executeTakeFirst()
  if (!row) return EMPTY
  return {
    available: row.available,
    reserved: row.reserved,
    customerId: row.customer_id,
    auto: {
      enabled: row.auto_enabled,
      thresholdCredits: row.auto_threshold,
      amountCredits: row.auto_amount,
      dailyCapCents: row.auto_daily_cap_cents,
      attemptedAt: row.auto_attempted_at,
    },
  }
}
