import Type from 'typebox'
import { Closed, Described, NotBlank, Uuid } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as templates from '#model/orders/template.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_TEMPLATE, Settings } from './templates.wire.ts'

/** Saves a tasking template; an existing template of the same name is replaced. */
export default operation({
  id: 'orders.tasking.templates.save',
  scope: 'orders:write',
  tier: 'compute',
  input: Closed({ name: NotBlank(255, { description: 'Template name; replaces an existing template of this name' }), ...Settings }),
  output: Closed(
    {
      id: Described(Uuid, 'Template ID'),
      name: Type.String({ description: 'Template name' }),
    },
    { description: 'The saved template' },
  ),
  example: {
    input: {
      name: EXAMPLE_TEMPLATE.name,
      resolution: '0.5 m',
      sensor: 'sandbox-vhr',
      capture_frequency: 'once',
      datum: 'WGS84',
      file_format: 'COG',
      max_cloud_coverage: 20,
      max_nadir_angle: 30,
    },
    output: { id: EXAMPLE_TEMPLATE.id, name: EXAMPLE_TEMPLATE.name },
  },
}).handle({
  check: async ({ principal }) => requireOrganization(principal),
  async execute({ tx, principal, clock }, { name, ...settings }, organizationId) {
    const saved = await templates.save(tx, { organizationId, createdBy: principal.userId, now: clock.now() }, { name, settings })
    return { id: saved.id, name: saved.name }
  },
})
