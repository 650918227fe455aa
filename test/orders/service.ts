/**
 * The real service that ends itself by SIGKILL at one named point of an order's way: KILL_POINT is the name of an operation or
 * of a task, where in it, and for a task that commits, which state an order or a group reaches by that. What comes after a
 * restart without the point is the other half of the work.
 */
import { run } from '#start/run.ts'
import { operations, tasks } from '#registry.ts'
import type { AnyTask, TaskContext } from '#task.ts'
import type { AnyOperation } from '#operation.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Vendors, VendorShop } from '#ports/vendors.ts'

/** How the order goes that is on its way when the service dies. */
export type Way =
  | 'archive'
  | 'skyfi'
  | 'planet'
  | 'up42'
  | 'failing'
  | 'cancelled'
  | 'planet cancelled'
  | 'up42 cancelled'
  | 'tasking'
  | 'rejected'

const ARCHIVE_POINTS = [
  'orders.archive.place before-commit',
  'orders.archive.place after-commit',
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

const CANCEL_POINTS = [
  'orders.cancel before-vendor',
  'orders.cancel after-vendor',
  'orders.cancel before-commit',
  'orders.cancel after-commit',
] as const

/** The task that sends an order commits nothing that a change could be watched in: its vendor is the point. */
export const POINTS = {
  archive: ARCHIVE_POINTS,
  /** Vendors that recognize no repeated order. */
  skyfi: ARCHIVE_POINTS,
  planet: ARCHIVE_POINTS,
  failing: ['orders.poll before-commit failed', 'orders.poll after-commit failed'],
  cancelled: CANCEL_POINTS,
  'planet cancelled': CANCEL_POINTS,
  up42: ARCHIVE_POINTS,
  'up42 cancelled': CANCEL_POINTS,
  tasking: [
    'orders.tasking.place before-commit',
    'orders.tasking.place after-commit',
    'orders.ask before-vendor',
    'orders.ask after-vendor',
    'orders.poll before-commit feasibility_ready',
    'orders.poll after-commit feasibility_ready',
    'orders.tasking.feasibility_decide before-commit',
    'orders.tasking.feasibility_decide after-commit',
    'orders.poll before-commit quotation_ready',
    'orders.poll after-commit quotation_ready',
    'orders.tasking.quotation_decide before-commit',
    'orders.tasking.quotation_decide after-commit',
  ],
  rejected: ['orders.tasking.quotation_decide before-commit', 'orders.tasking.quotation_decide after-commit'],
} as const satisfies Record<Way, readonly string[]>

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
  const shopOf = (shop: VendorShop): VendorShop => ({
    price: (...args) => shop.price(...args),
    placeOrder: around((...args) => shop.placeOrder(...args)),
    findOrder: (...args) => shop.findOrder(...args),
    order: isCancelling ? (...args) => shop.order(...args) : around((...args) => shop.order(...args)),
    cancelOrder: around((...args) => shop.cancelOrder(...args)),
    download: (...args) => shop.download(...args),
    requestStudy: around((...args) => shop.requestStudy(...args)),
    study: (...args) => shop.study(...args),
    requestQuotation: around((...args) => shop.requestQuotation(...args)),
    quotation: (...args) => shop.quotation(...args),
    opportunities: (...args) => shop.opportunities(...args),
    ...(shop.declineTerms ? { declineTerms: (...args) => shop.declineTerms!(...args) } : {}),
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

if (import.meta.main)
  await run({
    operations: new Map([...operations, ...OPERATIONS.map((id) => [id, watchedOperation(operations.get(id)!)] as const)]),
    tasks: tasks.map((job) => (job.name.startsWith('orders.') ? watchedTask(job) : job)),
  })
