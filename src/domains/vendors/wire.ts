import Type, { type Static } from 'typebox'
import { invalidInput, notFound, problem } from '#core/problem.ts'
import { Choice, Closed, Matching, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { VENDOR_ACCOUNT_STATUSES } from '#core/vocabulary.ts'
import { acceptedAt, type Acceptances } from '#model/licensing/licence.ts'
import type { Account } from '#model/vendors/account.ts'
import { VendorError } from '#ports/vendors/call.ts'
import { SECRET_FIELDS, type AccountSecret, type Source } from '#ports/vendors/source.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'

export const HostName = Type.String({ minLength: 1, maxLength: 100, description: 'Host name of the vendor, from `vendors.accounts.list`' })

const Part = (description: string) =>
  Type.Optional(Matching('^[\\x21-\\x7e]+$', 'must be printable ASCII without spaces', { minLength: 1, maxLength: 2_000, description }))

export const Credentials = Closed(
  {
    key: Part('API key'),
    user: Part('User name or email address'),
    password: Part('Password of the user'),
    client_id: Part('OAuth client ID'),
    client_secret: Part('OAuth client secret'),
  },
  {
    $id: 'VendorCredentials',
    description: 'Credentials at the vendor; which fields it needs is in `vendors.accounts.list`. Never returned',
  },
)

export const AccountRecord = Closed(
  {
    id: Type.With(Uuid, { description: 'Account ID' }),
    host_name: Type.String({ description: 'Host name of the vendor of the account' }),
    title: Type.String({ description: 'Vendor title' }),
    hint: Type.String({ description: 'User name or client ID, or the last characters of the key' }),
    status: Choice(VENDOR_ACCOUNT_STATUSES, { description: 'Whether the vendor accepted the credentials when it was last asked' }),
    detail: Nullable(Type.String({ description: 'What the vendor said at the last check; null if nothing' })),
    checked_at: Nullable(Type.With(Timestamp, { description: 'Time of the last check; null if the vendor has not been reached yet' })),
    created_by: Nullable(Type.With(Uuid, { description: 'User ID of the member who connected the account; null if unknown' })),
    created_at: Type.With(Timestamp, { description: 'Time the account was connected' }),
    updated_at: Type.With(Timestamp, { description: 'Time the credentials were last replaced' }),
  },
  { $id: 'VendorAccount', description: "The organization's account at a vendor" },
)

const OFFERS = ['archive', 'tasking'] as const

export const VendorRecord = Closed(
  {
    host_name: Type.String({ description: 'Host name to connect an account at' }),
    title: Type.String({ description: 'Vendor title' }),
    description: Type.String({ description: 'What the vendor sells' }),
    offers: Type.Array(Choice(OFFERS), { description: 'Whether archive scenes, tasking or both can be ordered' }),
    is_tested: Type.Boolean({
      description: 'Whether the connection has been used with a real account; if not, it is built from public documentation only',
    }),
    missing_licences: Type.Array(Type.String(), { description: 'Names of licences to accept before some of its products can be ordered' }),
    credentials: Type.Array(Choice(SECRET_FIELDS), { description: 'Fields that `vendors.accounts.put` needs' }),
    currency: Type.String({ description: 'Currency in which the vendor bills, as an ISO 4217 code' }),
    handling_credits: Type.Integer({ description: 'Our fee in credits for each order group that the vendor bills' }),
    is_sold_here: Type.Boolean({ description: 'Whether the imagery can also be bought without an account at the vendor' }),
  },
  { $id: 'AccountVendor', description: 'A vendor at which the organization can connect an account' },
)

export const toRecord = (account: Account, vendors: Vendors): Static<typeof AccountRecord> => ({
  id: account.id,
  host_name: account.hostName,
  title: vendors.source(account.hostName)?.title ?? account.hostName,
  hint: account.hint,
  status: account.status,
  detail: account.detail,
  checked_at: account.checkedAt?.toISOString() ?? null,
  created_by: account.createdBy,
  created_at: account.createdAt.toISOString(),
  updated_at: account.updatedAt.toISOString(),
})

/** Licences are missing until one of the organization's members accepts their current document. */
export function toVendor(source: Source, vendors: Vendors, accepted: Acceptances): Static<typeof VendorRecord> {
  const products = vendors.products.filter(({ hostName }) => hostName === source.hostName)
  const types = new Set(products.map(({ type }) => type))
  const needed = new Set(products.map(({ licenceId }) => licenceId))
  const missing = vendors.licences.filter(({ id, documents }) => needed.has(id) && acceptedAt(accepted, documents[0]!) === null)
  return {
    host_name: source.hostName,
    title: source.title,
    description: source.description,
    offers: OFFERS.filter((offer) => types.has(offer === 'archive' ? 'ARCHIVE' : 'TASKING')),
    is_tested: source.isTested,
    missing_licences: missing.map(({ name }) => name),
    credentials: [...source.secretFields],
    currency: source.currency,
    handling_credits: source.handlingCents,
    is_sold_here: source.hasInstallationAccount && source.exchange !== null,
  }
}

/** The vendors at which an organization can have an account. */
export const connectable = ({ sources }: Vendors): Source[] => sources.filter(({ secretFields }) => secretFields.length > 0)

/** 404 for a vendor without accounts. */
export function requireConnectable(vendors: Vendors, hostName: string): Source {
  const known = connectable(vendors)
  const source = known.find((each) => each.hostName === hostName)
  if (source) return source
  const names = known.map((each) => each.hostName)
  throw problem('not-found', `No account can be connected at '${hostName.slice(0, 100)}'. Vendors: ${names.join(', ') || 'none'}`)
}

/** 422 unless exactly the fields are given that the vendor needs. */
export function requireSecret({ hostName, secretFields }: Source, given: Static<typeof Credentials>): AccountSecret {
  const needed = secretFields.filter((field) => given[field] === undefined)
  const others = SECRET_FIELDS.filter((field) => given[field] !== undefined && !secretFields.includes(field))
  const errors = [
    ...needed.map((field) => ({ field: `credentials.${field}`, message: `is required at '${hostName}'` })),
    ...others.map((field) => ({
      field: `credentials.${field}`,
      message: `is not used at '${hostName}', which needs ${secretFields.join(' and ')}`,
    })),
  ]
  if (errors.length > 0) throw invalidInput(errors)
  return given
}

/** What the vendor says about credentials: accepted or refused; unchecked if it cannot be asked. */
export async function verdictOf(
  vendors: Vendors,
  hostName: string,
  secret: AccountSecret,
  signal: AbortSignal,
): Promise<{ status: Account['status']; detail: string | null }> {
  try {
    const { detail } = await vendors.checkAccount(hostName, secret, { signal })
    return { status: 'accepted', detail }
  } catch (error) {
    if (!(error instanceof VendorError)) throw error
    return { status: error.code === 'unauthorized' ? 'refused' : 'unchecked', detail: error.message }
  }
}

export const requireFound = (account: Account | null): Account => {
  if (!account) throw notFound('account at this vendor')
  return account
}

export const EXAMPLE_ACCOUNT = {
  id: '0199f2da-0000-7000-8000-000000000001',
  host_name: 'sandbox-vhr',
  title: 'Sandbox very high resolution',
  hint: '…-key',
  status: 'accepted' as const,
  detail: null,
  checked_at: EXAMPLE_AT,
  created_by: EXAMPLE_IDS.user,
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
}
