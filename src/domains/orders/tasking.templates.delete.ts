import Type from 'typebox'
import { notFound } from '#core/problem.ts'
import { Closed, Described, Uuid } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as templates from '#model/orders/template.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_TEMPLATE } from './templates.wire.ts'

/** Deletes a saved template. */
export default operation({
  id: 'orders.tasking.templates.delete',
  scope: 'orders:write',
  tier: 'destructive',
  input: Closed({ template_id: Type.String({ minLength: 1, maxLength: 100, description: 'Template ID' }) }),
  output: Closed(
    {
      template_id: Described(Uuid, 'Template ID'),
      deleted: Type.Literal(true, { description: 'Always `true`' }),
    },
    { description: 'Confirmation of the deletion' },
  ),
  example: { input: { template_id: EXAMPLE_TEMPLATE.id }, output: { template_id: EXAMPLE_TEMPLATE.id, deleted: true } },
}).handle({
  async check({ db, principal }, { template_id }) {
    const template = await templates.find(db, requireOrganization(principal), template_id)
    if (!template) throw notFound('template')
    return template
  },
  async execute({ tx }, _input, { id }) {
    if (!(await templates.remove(tx, id))) throw notFound('template')
    return { template_id: id, deleted: true as const }
  },
})
