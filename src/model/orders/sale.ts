/**
 * Who sells a source's imagery to an organization: we do, with the operator's account and at our price in credits, or the vendor does,
 * with the organization's own account. An organization that has connected an account always uses it.
 */
import { roundUpCredits } from '#core/money.ts'
import type { Db } from '#db/tables.ts'
import * as accounts from '#model/vendors/account.ts'
import type { Source } from '#ports/vendors/source.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'
import type { VendorCharge } from './order-group.ts'

export interface Sale {
  readonly source: Source
  /** The organization's account; null: the operator's. */
  readonly accountId: string | null
}

interface SaleContext {
  db: Db
  vendors: Vendors
  organizationId: string
}

/** How a known source is sold, or the reason why it is not. */
export async function saleAt({ db, vendors, organizationId }: SaleContext, hostName: string): Promise<Sale | { reason: string }> {
  const source = vendors.source(hostName)!
  const accountId = await accounts.accountFor(db, source, organizationId)
  if (accountId !== null) return { source, accountId }
  if (!source.hasInstallationAccount) return { reason: accounts.missingAccount(source) }
  if (source.exchange === null)
    return { reason: `'${hostName}' is not for sale here: its prices are in ${source.currency}, and the operator has set no exchange rate` }
  return { source, accountId: null }
}

/**
 * Credits for what the vendor charges: converted, with the margin and our markup, and rounded up once. If the vendor bills the
 * organization, only our fee. Null: the vendor has no price, so that we cannot sell it.
 */
export function creditsFor({ source, accountId }: Sale, cents: number | null): number | null {
  if (accountId !== null) return source.handlingCents
  if (cents === null || source.exchange === null) return null
  const { audPerUnit, marginPercent } = source.exchange
  return roundUpCredits(cents * audPerUnit * (1 + marginPercent / 100) * (1 + source.markupPercent / 100))
}

/** How an existing group is sold: with the account that it was priced with. */
export const saleOf = (vendors: Vendors, { hostName, vendorAccountId }: { hostName: string; vendorAccountId: string | null }): Sale => ({
  source: vendors.source(hostName)!,
  accountId: vendorAccountId,
})

/** The charge as it is kept with a group, for the books and for disputes. */
export function chargeOf({ source, accountId }: Sale, cents: number | null): VendorCharge {
  const isOurs = accountId === null
  return {
    accountId,
    currency: source.currency,
    cents: cents === null ? null : roundUpCredits(cents),
    exchange: isOurs ? source.exchange : null,
    markupPercent: isOurs ? source.markupPercent : null,
  }
}
