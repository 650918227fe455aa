import { Closed } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { GenericInput, genericOf, licenseTypeOf } from './generic.lib.ts'
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

/** Orders a data product by name, of the archive or to be taken anew: as `POST /v2/orders` does. */
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
  async check(context, input, found): Promise<ArchiveOrder | TaskingOrder> {
    const wanted = await genericOf(context, input)
    const common = {
      project: projects.requireActive(found),
      displayName: input.displayName ?? null,
      tags: input.tags ?? [],
      licenseType: licenseTypeOf(input),
      maxCredits: input.maxCredits ?? null,
      operation: 'orders.place',
    }
    return wanted.type === 'ARCHIVE'
      ? { ...common, kind: 'archive', captures: wanted.captures, splitByDate: false }
      : { ...common, kind: 'tasking', wanted: wanted.wanted }
  },
  async prepare(context, _input, wanted): Promise<PreparedArchive | readonly PricedGroup[]> {
    return wanted.kind === 'archive' ? await prepareArchive(context, wanted) : await prepareTasking(context, wanted)
  },
  async execute(context, _input, wanted, prepared) {
    return toRecord(
      wanted.kind === 'archive'
        ? await executeArchive(context, wanted, prepared as PreparedArchive)
        : await executeTasking(context, wanted, prepared as readonly PricedGroup[]),
    )
  },
})
