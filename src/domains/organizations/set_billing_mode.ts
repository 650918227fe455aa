import { notFound } from '#core/problem.ts'
import { Choice, Closed, Uuid } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ORGANIZATION, OrganizationRecord, toRecord } from './wire.ts'

/** Operators only: confirms or ends enterprise billing. With `standard`, wallet and plan determine the billing mode. */
export default operation({
  id: 'organizations.set_billing_mode',
  scope: 'admin:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({ organization_id: Uuid, billing_mode: Choice(['enterprise', 'standard']) }),
  output: OrganizationRecord,
  example: {
    input: { organization_id: EXAMPLE_ORGANIZATION.id, billing_mode: 'enterprise' },
    output: { ...EXAMPLE_ORGANIZATION, billing_mode: 'enterprise', enterprise_billing: true, enterprise_billing_status: 'confirmed' },
  },
}).handle({
  async check({ db }, { organization_id }) {
    if (!(await organizations.exists(db, organization_id))) throw notFound('organization')
  },
  async execute({ tx, clock, attributeTo }, { organization_id, billing_mode }) {
    attributeTo(organization_id)
    await organizations.setEnterprise(tx, organization_id, billing_mode === 'enterprise', clock.now())
    return toRecord(await organizations.get(tx, organization_id))
  },
})
