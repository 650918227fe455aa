/**
 * The real service that ends itself by SIGKILL at one named point of an order's way: KILL_POINT is the name of an operation or
 * of a task, and where in it. A point counts once, so that what comes after a restart is the other half of the work.
 */
import { run } from '#main.ts'
import { operations, tasks } from '#registry.ts'
import type { AnyTask, TaskContext } from '#task.ts'
import type { AnyOperation } from '#operation.ts'
import type { Db } from '#db/tables.ts'
import type { Vendors, VendorShop } from '#ports/vendors.ts'

const PLACES = ['before-vendor', 'after-vendor', 'before-commit', 'after-commit'] as const
type Place = (typeof PLACES)[number]

/** The task that sends an order never commits a change of its own: its vendor is the point. */
export const POINTS = [
  'orders.archive.place before-commit',
  'orders.archive.place after-commit',
  'orders.place before-vendor',
  'orders.place after-vendor',
  'orders.poll before-vendor',
  'orders.poll after-vendor',
  'orders.poll before-commit',
  'orders.poll after-commit',
  'orders.deliver before-vendor',
  'orders.deliver after-vendor',
  'orders.deliver before-commit',
  'orders.deliver after-commit',
] as const
export type Point = (typeof POINTS)[number]

const point = process.env['KILL_POINT']

function at(name: string, here: Place): void {
  if (point === `${name} ${here}`) process.kill(process.pid, 'SIGKILL')
}

/** The vendors' clients with the points around what is asked of them. */
function watched(vendors: Vendors, name: string): Vendors {
  const around =
    <A extends unknown[], R>(ask: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      at(name, 'before-vendor')
      const answer = await ask(...args)
      at(name, 'after-vendor')
      return answer
    }
  const shopOf = (shop: VendorShop): VendorShop => ({
    price: (...args) => shop.price(...args),
    placeOrder: around((...args) => shop.placeOrder(...args)),
    order: around((...args) => shop.order(...args)),
    cancelOrder: (...args) => shop.cancelOrder(...args),
    download: (...args) => shop.download(...args),
    requestStudy: (...args) => shop.requestStudy(...args),
    study: (...args) => shop.study(...args),
    requestQuotation: (...args) => shop.requestQuotation(...args),
    quotation: (...args) => shop.quotation(...args),
    opportunities: (...args) => shop.opportunities(...args),
  })
  return {
    ...vendors,
    shop: (hostName) => {
      const shop = vendors.shop(hostName)
      return shop && shopOf(shop)
    },
  }
}

const watchedTask = (job: AnyTask): AnyTask => ({
  ...job,
  run: (context, data) => {
    const change: TaskContext['change'] = async (organizationId, work) => {
      const done = await context.change(organizationId, async (made) => {
        const result = await work(made)
        at(job.name, 'before-commit')
        return result
      })
      at(job.name, 'after-commit')
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
      return await op.prepare?.(context, input, facts)
    },
    execute: async (context, input, facts, prepared) => {
      const answer = await op.execute(context, input, facts, prepared)
      at(op.id, 'before-commit')
      if (point === `${op.id} after-commit`) void dieAfterCommit(outside!, context.invocationId)
      return answer
    },
  }
}

if (import.meta.main) {
  const id = 'orders.archive.place'
  await run({
    operations: new Map([...operations, [id, watchedOperation(operations.get(id)!)]]),
    tasks: tasks.map((job) => (job.name.startsWith('orders.') ? watchedTask(job) : job)),
  })
}
