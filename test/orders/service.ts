/**
 * The real service that ends itself by SIGKILL at one named point of an order's way: KILL_POINT is the name of an operation or
 * of a task, where in it, and for a task that commits, which state an order or a group reaches by that; or a request to a vendor, whose
 * response is lost. What comes after a restart without the point is the other half of the work.
 */
import { subscribe } from 'node:diagnostics_channel'
import { run } from '#start/run.ts'
import { operations, tasks } from '#registry.ts'
import type { AnyTask, TaskContext } from '#task.ts'
import type { AnyOperation } from '#operation.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { VendorShop } from '#ports/vendors/shop.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'

/** From the order at the vendor to the items of the customer. */
const FULFILMENT_POINTS = [
  'orders.place before-vendor',
  'orders.place after-vendor',
  'orders.poll before-vendor',
  'orders.poll after-vendor',
  'orders.poll before-commit awaiting_data',
  'orders.poll after-commit awaiting_data',
  'orders.poll before-commit delivering',
  'orders.poll after-commit delivering',
  'orders.deliver before-vendor',
  'orders.deliver after-vendor',
  'orders.deliver before-commit fulfilled',
  'orders.deliver after-commit fulfilled',
] as const

const ARCHIVE_POINTS = ['orders.archive.place before-commit', 'orders.archive.place after-commit', ...FULFILMENT_POINTS] as const

const CANCEL_POINTS = [
  'orders.cancel before-vendor',
  'orders.cancel after-vendor',
  'orders.cancel before-commit',
  'orders.cancel after-commit',
] as const

const STUDY_POINTS = [
  'orders.tasking.place before-commit',
  'orders.tasking.place after-commit',
  'orders.ask before-vendor',
  'orders.ask after-vendor',
  'orders.poll before-commit feasibility_ready',
  'orders.poll after-commit feasibility_ready',
  'orders.tasking.feasibility_decide before-commit',
  'orders.tasking.feasibility_decide after-commit',
] as const

const QUOTATION_POINTS = [
  'orders.poll before-commit quotation_ready',
  'orders.poll after-commit quotation_ready',
  'orders.tasking.quotation_decide before-commit',
  'orders.tasking.quotation_decide after-commit',
] as const

const IN_TRANSFER = 'orders.deliver in-transfer'

/**
 * By the way of the order that is underway when the service dies: the first word is the vendor, unless it is our own. The task that sends
 * an order commits nothing that a change could be watched in: its vendor is the point. A vendor has done what was asked of it when its
 * response arrives, which is where `response to` dies: a placement can take several requests.
 */
export const POINTS = {
  archive: ARCHIVE_POINTS,
  failing: ['orders.poll before-commit failed', 'orders.poll after-commit failed'],
  cancelled: CANCEL_POINTS,
  tasking: [...STUDY_POINTS, ...QUOTATION_POINTS],
  rejected: ['orders.tasking.quotation_decide before-commit', 'orders.tasking.quotation_decide after-commit'],
  skyfi: [...ARCHIVE_POINTS, IN_TRANSFER, 'response to POST /platform-api/order-archive'],
  'skyfi tasking': [
    ...STUDY_POINTS,
    ...FULFILMENT_POINTS,
    IN_TRANSFER,
    'response to POST /platform-api/feasibility',
    'response to POST /platform-api/order-tasking',
  ],
  planet: [...ARCHIVE_POINTS, IN_TRANSFER, 'response to POST /compute/ops/orders/v2'],
  'planet cancelled': [...CANCEL_POINTS, 'response to PUT /compute/ops/orders/v2/*'],
  /** The image is ordered when it has been taken, by a poll. */
  'planet tasking': [
    ...STUDY_POINTS,
    ...FULFILMENT_POINTS,
    IN_TRANSFER,
    'response to POST /tasking/v2/orders/',
    'response to POST /compute/ops/orders/v2',
  ],
  'planet tasking cancelled': [...CANCEL_POINTS, 'response to DELETE /tasking/v2/orders/*/'],
  up42: [...ARCHIVE_POINTS, IN_TRANSFER, 'response to POST /v2/orders'],
  'up42 cancelled': [...CANCEL_POINTS, 'response to POST /v2/orders/*/cancellation'],
  'up42 tasking': [
    ...STUDY_POINTS,
    ...QUOTATION_POINTS,
    ...FULFILMENT_POINTS,
    IN_TRANSFER,
    'response to POST /v2/orders',
    'response to PATCH /v2/tasking/feasibility-studies/*',
    'response to PATCH /v2/tasking/quotation/*',
  ],
  /** UP42 keeps an order that was studied open until it is told. */
  'up42 tasking rejected': [
    'orders.tasking.quotation_decide before-commit',
    'orders.tasking.quotation_decide after-commit',
    'orders.withdraw before-vendor',
    'orders.withdraw after-vendor',
    'response to PATCH /v2/tasking/quotation/*',
  ],
  umbra: [...ARCHIVE_POINTS, IN_TRANSFER, 'response to POST /tasking/tasks/archive-tasks'],
  'umbra cancelled': [...CANCEL_POINTS, 'response to PATCH /tasking/tasks/*/cancel'],
  'umbra tasking': [
    ...STUDY_POINTS,
    ...FULFILMENT_POINTS,
    IN_TRANSFER,
    'response to POST /tasking/feasibilities',
    'response to POST /tasking/tasks',
  ],
  /** A server of the standard has new images only, which we quote ourselves. */
  'stapi tasking': [
    'orders.tasking.place before-commit',
    'orders.tasking.place after-commit',
    'orders.ask before-commit quotation_ready',
    'orders.ask after-commit quotation_ready',
    'orders.tasking.quotation_decide before-commit',
    'orders.tasking.quotation_decide after-commit',
    ...FULFILMENT_POINTS,
    IN_TRANSFER,
    'response to POST /stapi/products/Area:Standard/orders',
  ],
  'stapi tasking cancelled': [...CANCEL_POINTS, 'response to POST /stapi/orders/*/cancel'],
} as const satisfies Record<string, readonly string[]>

export type Way = keyof typeof POINTS

const OPERATIONS = [
  'orders.archive.place',
  'orders.cancel',
  'orders.tasking.place',
  'orders.tasking.feasibility_decide',
  'orders.tasking.quotation_decide',
]

const point = process.env['KILL_POINT']

function at(here: string): void {
  if (point === here) process.kill(process.pid, 'SIGKILL')
}

type Dispatched = Readonly<Record<'method' | 'path', string>>

/** What is asked of a vendor, with a star for each ID. */
const requestOf = ({ method, path }: Dispatched): string =>
  `${method} ${decodeURIComponent(path.split('?')[0]!).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '*')}`

/** The vendors' clients with the points around what is asked of them. */
function watched(vendors: Vendors, name: string): Vendors {
  const around =
    <A extends unknown[], R>(ask: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      at(`${name} before-vendor`)
      const answer = await ask(...args)
      at(`${name} after-vendor`)
      return answer
    }
  const isCancelling = name === 'orders.cancel'
  const inTransfer = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      yield chunk
      at(`${name} in-transfer`)
    }
  }
  const shopOf = (shop: VendorShop): VendorShop => ({
    price: (...args) => shop.price(...args),
    placeOrder: around((...args) => shop.placeOrder(...args)),
    findOrder: (...args) => shop.findOrder(...args),
    order: isCancelling ? (...args) => shop.order(...args) : around((...args) => shop.order(...args)),
    cancelOrder: around((...args) => shop.cancelOrder(...args)),
    download: (...args) => inTransfer(shop.download(...args)),
    requestStudy: around((...args) => shop.requestStudy(...args)),
    study: (...args) => shop.study(...args),
    requestQuotation: around((...args) => shop.requestQuotation(...args)),
    quotation: (...args) => shop.quotation(...args),
    opportunities: (...args) => shop.opportunities(...args),
    ...(shop.declineTerms ? { declineTerms: around((...args) => shop.declineTerms!(...args)) } : {}),
    ...(shop.findTerms ? { findTerms: (...args) => shop.findTerms!(...args) } : {}),
  })
  return {
    ...vendors,
    shop: (hostName, accountId) => {
      const shop = vendors.shop(hostName, accountId)
      return shop && shopOf(shop)
    },
  }
}

/** In which states orders and groups are, by their ids. */
async function standings(db: Db | Tx): Promise<Map<string, string>> {
  const orders = await db.selectFrom('imagery_order').select(['id', 'status']).execute()
  const groups = await db.selectFrom('order_group').select(['id', 'status', 'sub_status']).execute()
  return new Map([
    ...orders.map(({ id, status }) => [id, status] as const),
    ...groups.flatMap(({ id, status, sub_status: agreed }) => [[id, status] as const, [`${id} agreed`, String(agreed)] as const]),
  ])
}

const watchedTask = (job: AnyTask): AnyTask => ({
  ...job,
  run: (context, data) => {
    const change: TaskContext['change'] = async (organizationId, work) => {
      let reached: string[] = []
      const done = await context.change(organizationId, async (effects) => {
        const before = await standings(context.db)
        const result = await work(effects)
        reached = [...(await standings(effects.tx))].flatMap(([id, state]) => (before.get(id) === state ? [] : [state]))
        for (const state of reached) at(`${job.name} before-commit ${state}`)
        return result
      })
      for (const state of reached) at(`${job.name} after-commit ${state}`)
      return done
    }
    return job.run({ ...context, vendors: watched(context.vendors, job.name), change }, data)
  },
})

/** Dies as soon as somebody else could see what the call has done. */
async function dieAfterCommit(db: Db, invocationId: string): Promise<void> {
  for (;;)
    if (await db.selectFrom('audit').select('operation').where('invocation_id', '=', invocationId).executeTakeFirst())
      process.kill(process.pid, 'SIGKILL')
}

function watchedOperation(op: AnyOperation): AnyOperation {
  let outside: Db | null = null
  return {
    ...op,
    prepare: async (context, input, facts) => {
      outside = context.db
      return await op.prepare?.({ ...context, vendors: watched(context.vendors, op.id) }, input, facts)
    },
    execute: async (context, input, facts, prepared) => {
      const answer = await op.execute(context, input, facts, prepared)
      at(`${op.id} before-commit`)
      if (point === `${op.id} after-commit`) void dieAfterCommit(outside!, context.invocationId)
      return answer
    },
  }
}

if (import.meta.main) {
  // Before anybody else knows that there is a response.
  subscribe('undici:request:headers', (message) => at(`response to ${requestOf((message as { request: Dispatched }).request)}`))
  await run({
    operations: new Map([...operations, ...OPERATIONS.map((id) => [id, watchedOperation(operations.get(id)!)] as const)]),
    tasks: tasks.map((job) => (job.name.startsWith('orders.') ? watchedTask(job) : job)),
  })
}
