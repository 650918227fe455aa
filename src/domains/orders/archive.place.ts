import Type from 'typebox'
import { Closed, Defaulted, Nullable } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { Captures, capturesOf } from './input.lib.ts'
import { executeArchive, prepareArchive, requireOrderProject, requirePerson, type ArchiveOrder } from './placing.lib.ts'
import { DisplayName, EXAMPLE_CAPTURE, EXAMPLE_ORDER, MaxCredits, OrderRecord, ProjectId, Tags, toRecord } from './wire.ts'

/** Orders archive scenes. Their price is reserved with the order and captured on delivery. */
export default operation({
  id: 'orders.archive.place',
  scope: 'orders:write',
  tier: 'external_spend',
  idempotent: true,
  produces: ['order:ordered>project'],
  events: ['order.created', 'order.placed', 'credits.low_balance', 'credits.depleted'],
  input: Closed({
    projectId: ProjectId,
    captures: Captures,
    licenseType: Defaulted(Type.String({ minLength: 1, maxLength: 100, description: 'Licence type of the data product' }), 'standard'),
    splitByDate: Type.Optional(Nullable(Type.Boolean({ description: 'Whether to create one group per acquisition day' }))),
    displayName: Type.Optional(Nullable(DisplayName)),
    tags: Type.Optional(Nullable(Tags)),
    maxCredits: MaxCredits,
  }),
  output: OrderRecord,
  example: {
    input: { projectId: EXAMPLE_IDS.project, captures: [EXAMPLE_CAPTURE], displayName: 'Hobart, February' },
    output: EXAMPLE_ORDER,
  },
}).handle({
  async permit(context, { projectId }) {
    requirePerson(context.principal)
    return await requireOrderProject(context, projectId)
  },
  async check(_context, { captures, licenseType, splitByDate, displayName, tags, maxCredits }, project): Promise<ArchiveOrder> {
    return {
      kind: 'archive',
      project: projects.requireActive(project),
      captures: await capturesOf(captures),
      splitByDate: splitByDate ?? false,
      displayName: displayName ?? null,
      tags: tags ?? [],
      licenseType,
      maxCredits: maxCredits ?? null,
      operation: 'orders.archive.place',
    }
  },
  prepare: async (context, _input, order) => await prepareArchive(context, order),
  execute: async (context, _input, order, prepared) => toRecord(await executeArchive(context, order, prepared)),
})
