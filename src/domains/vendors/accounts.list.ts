import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { requireBillingAdmin } from '#model/money/billing-account.ts'
import * as accounts from '#model/vendors/account.ts'
import { operation } from '#operation.ts'
import { AccountRecord, connectable, EXAMPLE_ACCOUNT, toRecord, VendorRecord } from './wire.ts'

/** Lists the organization's accounts at vendors, without their credentials, and the vendors at which it can connect one. */
export default operation({
  id: 'vendors.accounts.list',
  scope: 'billing:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({
    accounts: Type.Array(AccountRecord, { description: 'Connected accounts, by host name' }),
    vendors: Type.Array(VendorRecord, { description: 'Vendors at which an account can be connected' }),
  }),
  example: {
    input: {},
    output: {
      accounts: [EXAMPLE_ACCOUNT],
      vendors: [{ host_name: 'skyfi', title: 'SkyFi', credentials: ['key'], currency: 'USD', handling_credits: 0, is_sold_here: false }],
    },
  },
}).handle({
  check: async ({ db, principal }) => await requireBillingAdmin(db, principal),
  async execute({ db, vendors }, _input, organizationId) {
    return {
      accounts: (await accounts.list(db, organizationId)).map((account) => toRecord(account, vendors)),
      vendors: connectable(vendors).map(({ hostName, title, secretFields, currency, handlingCents, hasInstallationAccount, exchange }) => ({
        host_name: hostName,
        title,
        credentials: [...secretFields],
        currency,
        handling_credits: handlingCents,
        is_sold_here: hasInstallationAccount && exchange !== null,
      })),
    }
  },
})
