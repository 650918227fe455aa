import { Closed } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { GenericInput, licenseTypeOf, parseRequest } from './generic.lib.ts'
import {
  executeArchive,
  executeTasking,
  prepareArchive,
  prepareTasking,
  requireOrderProject,
  requirePerson,
  type ArchiveOrder,
  type PreparedArchive,
  type TaskingOrder,
} from './placing.lib.ts'
import type { PricedGroup } from '#model/orders/pricing.ts'
import { EXAMPLE_FEATURES, EXAMPLE_ORDER, MaxCredits, OrderRecord, ProjectId, toRecord } from './wire.ts'

/** Orders archive or new imagery of a data product by name, as `POST /v2/orders` does. */
export default operation({
  id: 'orders.place',
  scope: 'orders:write',
  tier: 'external_spend',
  idempotent: true,
  produces: ['order:ordered>project'],
  events: ['order.created', 'order.placed', 'feasibility.requested', 'credits.low_balance', 'credits.depleted'],
  input: Closed({ workspaceId: ProjectId, ...GenericInput, maxCredits: MaxCredits }),
  output: OrderRecord,
  example: {
    input: {
      workspaceId: EXAMPLE_IDS.project,
      dataProduct: 'sandbox-vhr-archive',
      displayName: 'Hobart, February',
      params: { id: 'sandbox-vhr_20260219_r818c4834' },
      featureCollection: EXAMPLE_FEATURES,
    },
    output: EXAMPLE_ORDER,
  },
}).handle({
  async permit(context, { dataProduct, workspaceId }) {
    if (context.vendors.product(dataProduct)?.type === 'ARCHIVE') requirePerson(context.principal)
    return await requireOrderProject(context, workspaceId)
  },
  async check(context, input, project): Promise<ArchiveOrder | TaskingOrder> {
    const request = await parseRequest(context, input)
    const common = {
      project: projects.requireActive(project),
      displayName: input.displayName ?? null,
      tags: input.tags ?? [],
      licenseType: licenseTypeOf(input),
      maxCredits: input.maxCredits ?? null,
      operation: 'orders.place',
    }
    return request.type === 'ARCHIVE'
      ? { ...common, kind: 'archive', captures: request.captures, splitByDate: false }
      : { ...common, kind: 'tasking', taskings: request.taskings }
  },
  async prepare(context, _input, order): Promise<PreparedArchive | readonly PricedGroup[]> {
    return order.kind === 'archive' ? await prepareArchive(context, order) : await prepareTasking(context, order)
  },
  async execute(context, _input, order, prepared) {
    return toRecord(
      order.kind === 'archive'
        ? await executeArchive(context, order, prepared as PreparedArchive)
        : await executeTasking(context, order, prepared as readonly PricedGroup[]),
    )
  },
})
