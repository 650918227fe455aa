/** Accounts of organizations at vendors. Secrets are encrypted with a key outside the database and are never returned. */
import { newId } from '#core/ids.ts'
import { requireSignedIn, type Principal } from '#core/principal.ts'
import { problem } from '#core/problem.ts'
import type { Seal } from '#core/seal.ts'
import type { VendorAccountStatus } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import { requireBillingAdmin } from '#model/money/billing-account.ts'
import { OPEN_STATUSES } from '#model/orders/states.ts'
import type { VendorAccounts } from '#ports/vendor-accounts.ts'
import { accountTokenName } from '#ports/vendor-tokens.ts'
import type { AccountSecret, Source } from '#ports/vendors/source.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'

const COLUMNS = [
  'id',
  'host_name as hostName',
  'hint',
  'status',
  'detail',
  'checked_at as checkedAt',
  'created_by as createdBy',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

export type Account = Row<'vendor_account', typeof COLUMNS>

/** The value is bound to its row: copied to another one, it cannot be decrypted. */
const about = (id: string): string => `vendor account ${id}`

/** The adapter's view of accounts. */
export function createVendorAccounts(db: Db, seal: Seal): VendorAccounts {
  return {
    async secretOf(accountId) {
      const row = await db.selectFrom('vendor_account').select('secret').where('id', '=', accountId).executeTakeFirst()
      if (!row) return null
      const text = seal.open(row.secret, about(accountId))
      if (text === null) throw new Error('a vendor account was encrypted with another key: SECRETS_KEY or secrets.key has changed')
      return JSON.parse(text) as AccountSecret
    },
  }
}

/** The organization of an owner, admin or billing admin. An account at a vendor is a means of payment: no key can manage it. */
export async function requireManager(db: Db, principal: Principal): Promise<string> {
  requireSignedIn(principal, 'manage accounts at vendors')
  return await requireBillingAdmin(db, principal)
}

export async function list(db: Db, organizationId: string): Promise<Account[]> {
  return await db.selectFrom('vendor_account').select(COLUMNS).where('org_id', '=', organizationId).orderBy('host_name').execute()
}

export async function find(db: Db, organizationId: string, hostName: string): Promise<Account | null> {
  const row = await db
    .selectFrom('vendor_account')
    .select(COLUMNS)
    .where('org_id', '=', organizationId)
    .where('host_name', '=', hostName)
    .executeTakeFirst()
  return row ?? null
}

/** The same, locked until the transaction ends: no order can begin to use it. */
export async function lock(tx: Tx, organizationId: string, hostName: string): Promise<Account | null> {
  const row = await tx
    .selectFrom('vendor_account')
    .select(COLUMNS)
    .where('org_id', '=', organizationId)
    .where('host_name', '=', hostName)
    .forUpdate()
    .executeTakeFirst()
  return row ?? null
}

/** The organization's account that a source is used with; null: the operator's, if there is one. */
export async function accountFor(
  db: Db,
  { hostName, accounts }: Pick<Source, 'hostName' | 'accounts'>,
  organizationId: string | null,
): Promise<string | null> {
  if (organizationId === null || !accounts.includes('organization')) return null
  return (await find(db, organizationId, hostName))?.id ?? null
}

export const missingAccount = ({ title, hostName }: Pick<Source, 'title' | 'hostName'>): string =>
  `${title} can only be used with an account of your organization: connect it with vendors.accounts.put, host_name '${hostName}'`

/** The account that a source is used with; 400 if the operator has none and the organization has connected none. */
export async function requireAccount(db: Db, source: Source, organizationId: string | null): Promise<string | null> {
  const accountId = await accountFor(db, source, organizationId)
  if (accountId === null && !source.hasInstallationAccount) throw problem('bad-request', missingAccount(source))
  return accountId
}

/** The sources that an organization can use: those that need no account, or for which there is one. */
export async function usableSources(db: Db, vendors: Vendors, organizationId: string | null): Promise<UsableSource[]> {
  const isByAccount = vendors.sources.some(({ accounts }) => accounts.includes('organization'))
  const own = organizationId !== null && isByAccount ? await list(db, organizationId) : []
  return vendors.sources.flatMap((source) => {
    const account = source.accounts.includes('organization') ? own.find(({ hostName }) => hostName === source.hostName) : undefined
    return account || source.hasInstallationAccount ? [{ source, accountId: account?.id ?? null }] : []
  })
}

export interface UsableSource {
  readonly source: Source
  /** The organization's account; null: the operator's, or none is needed. */
  readonly accountId: string | null
}

interface CheckResult {
  readonly status: VendorAccountStatus
  readonly detail: string | null
}

interface NewAccount extends CheckResult {
  readonly organizationId: string
  readonly hostName: string
  readonly secret: AccountSecret
  readonly createdBy: string | null
}

/** Stores an account, or replaces the secret of the one that the organization has at this host. */
export async function put(tx: Tx, seal: Seal, account: NewAccount, now: Date): Promise<Account> {
  const { organizationId, hostName, secret, status, detail, createdBy } = account
  await tx.selectFrom('organization').select('id').where('id', '=', organizationId).forUpdate().execute() // One put at a time.
  const existing = await tx
    .selectFrom('vendor_account')
    .select('id')
    .where('org_id', '=', organizationId)
    .where('host_name', '=', hostName)
    .executeTakeFirst()
  const id = existing?.id ?? newId()
  const values = {
    secret: seal.close(JSON.stringify(secret), about(id)),
    hint: hintOf(secret),
    status,
    detail,
    checked_at: status === 'unchecked' ? null : now,
    updated_at: now,
  }
  if (existing) return await tx.updateTable('vendor_account').set(values).where('id', '=', id).returning(COLUMNS).executeTakeFirstOrThrow()
  return await tx
    .insertInto('vendor_account')
    .values({ id, org_id: organizationId, host_name: hostName, created_by: createdBy, created_at: now, ...values })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

const HINT_LENGTH = 4
/** The end of a shorter secret would be too much of it. */
const MIN_HINTED_LENGTH = 12

function hintOf({ key, user, client_id }: AccountSecret): string {
  const name = user ?? client_id
  if (name !== undefined) return name
  return key !== undefined && key.length >= MIN_HINTED_LENGTH ? `…${key.slice(-HINT_LENGTH)}` : '…'
}

/** Stores what the vendor said. Returns null if the account was deleted. */
export async function setStatus(db: Db | Tx, id: string, { status, detail }: CheckResult, now: Date): Promise<Account | null> {
  const row = await db
    .updateTable('vendor_account')
    .set({ status, detail, ...(status === 'unchecked' ? {} : { checked_at: now }) })
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? null
}

/** Whether orders are open that this account pays for. */
export async function hasOpenOrders(db: Db, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('order_group')
    .innerJoin('imagery_order', 'imagery_order.id', 'order_group.order_id')
    .select('order_group.id')
    .where('order_group.vendor_account_id', '=', id)
    .where('imagery_order.status', 'in', [...OPEN_STATUSES])
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes an account and the tokens that it was issued. */
export async function remove(tx: Tx, { id, hostName }: Account): Promise<void> {
  await tx.deleteFrom('vendor_token').where('host_name', '=', hostName).where('name', '=', accountTokenName(id)).execute()
  await tx.deleteFrom('vendor_account').where('id', '=', id).execute()
}
