import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { acceptances } from '#model/licensing/licence.ts'
import * as accounts from '#model/vendors/account.ts'
import { operation } from '#operation.ts'
import { AccountRecord, connectable, EXAMPLE_ACCOUNT, toRecord, toVendor, VendorRecord } from './wire.ts'

/** Lists the organization's accounts at vendors, without their credentials, and the vendors at which it can connect one. */
export default operation({
  id: 'vendors.accounts.list',
  scope: 'orders:read',
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
      vendors: [
        {
          host_name: 'skyfi',
          title: 'SkyFi',
          description: 'Archive imagery of several satellite operators',
          offers: ['archive'],
          is_tested: false,
          missing_licences: [],
          credentials: ['key'],
          currency: 'USD',
          handling_credits: 0,
          is_sold_here: false,
        },
      ],
    },
  },
}).handle({
  check: async ({ db, principal }) => await accounts.requireManager(db, principal),
  async execute({ db, vendors }, _input, organizationId) {
    const accepted = await acceptances(db, organizationId)
    return {
      accounts: (await accounts.list(db, organizationId)).map((account) => toRecord(account, vendors)),
      vendors: connectable(vendors).map((source) => toVendor(source, vendors, accepted)),
    }
  },
})
