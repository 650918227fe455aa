import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as templates from '#model/orders/template.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_TEMPLATE, TemplateRecord, toRecord } from './templates.wire.ts'

/** Lists the organization's tasking templates by name. */
export default operation({
  id: 'orders.tasking.templates.list',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({ templates: Type.Array(TemplateRecord, { description: 'Tasking templates of the organization' }) }),
  example: { input: {}, output: { templates: [EXAMPLE_TEMPLATE] } },
}).handle({
  check: async ({ principal }) => requireOrganization(principal),
  execute: async ({ db }, _input, organizationId) => ({ templates: (await templates.list(db, organizationId)).map(toRecord) }),
})
