import Type from 'typebox'
import { Closed, Defaulted, Nullable } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { taskingOf } from './input.lib.ts'
import { executeTasking, prepareTasking, requireOrderProject, type TaskingOrder } from './placing.lib.ts'
import {
  DisplayName,
  EXAMPLE_FEATURES,
  EXAMPLE_TASKING,
  MAX_GROUPS,
  MaxCredits,
  OrderRecord,
  ProjectId,
  Tags,
  TaskingGroup,
  toRecord,
} from './wire.ts'

/** Orders new imagery. Nothing is reserved until a study option or a quotation is accepted. */
export default operation({
  id: 'orders.tasking.place',
  scope: 'orders:write',
  tier: 'external_spend',
  idempotent: true,
  produces: ['order:ordered>project'],
  events: ['order.created', 'feasibility.requested'],
  input: Closed({
    projectId: ProjectId,
    displayName: Type.Optional(Nullable(DisplayName)),
    groups: Type.Array(TaskingGroup, { minItems: 1, maxItems: MAX_GROUPS, description: 'Imagery to task, by group' }),
    licenseType: Defaulted(Type.String({ minLength: 1, maxLength: 100, description: 'Licence type of the data products' }), 'standard'),
    tags: Type.Optional(Nullable(Tags)),
    maxCredits: MaxCredits,
  }),
  output: OrderRecord,
  example: {
    input: {
      projectId: EXAMPLE_IDS.project,
      displayName: 'Hobart, April',
      groups: [
        {
          dataProduct: 'sandbox-vhr-tasking',
          featureCollection: EXAMPLE_FEATURES,
          params: { acquisitionStart: '2026-04-01T00:00:00Z', acquisitionEnd: '2026-05-01T00:00:00Z' },
        },
      ],
    },
    output: EXAMPLE_TASKING,
  },
}).handle({
  permit: (context, { projectId }) => requireOrderProject(context, projectId),
  async check(context, { groups, displayName, licenseType, tags, maxCredits }, project): Promise<TaskingOrder> {
    const taskings = []
    for (const [index, group] of groups.entries()) taskings.push(await taskingOf(context, group, `groups.${index}.`))
    return {
      kind: 'tasking',
      project: projects.requireActive(project),
      taskings,
      displayName: displayName ?? null,
      tags: tags ?? [],
      licenseType,
      maxCredits: maxCredits ?? null,
      operation: 'orders.tasking.place',
    }
  },
  prepare: async (context, _input, order) => await prepareTasking(context, order),
  execute: async (context, _input, order, prepared) => toRecord(await executeTasking(context, order, prepared)),
})
