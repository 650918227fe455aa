/**
 * The real service, with a shop beside it, that ends itself by SIGKILL at one named point of a payment: KILL_POINT says
 * where, KILL_KEY for which request (background work needs none).
 */
import type { Payments } from '#ports/payments.ts'
import { run } from '#start/run.ts'
import { operations, tasks } from '#registry.ts'
import type { AnyTask } from '#task.ts'
import type { AnyOperation } from '#operation.ts'
import type { Db } from '#db/tables.ts'
import { buy, end } from './shop.ts'

export const POINTS = [
  'before-intent',
  'before-charge',
  'after-charge',
  'before-commit',
  'after-commit',
  'before-settling',
  'after-settling',
] as const
export type Point = (typeof POINTS)[number]

const point = process.env['KILL_POINT']
const key = process.env['KILL_KEY']

const die = (): never => {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('killed')
}
const at = (here: Point, matters: boolean) => {
  if (matters && point === here) die()
}

/** The processor's client with the points around what it does. */
function watched(payments: Payments | null, matters: boolean): Payments | null {
  if (!payments) return null
  const around =
    <A extends unknown[], R>(before: Point | null, after: Point | null, call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (before) at(before, matters)
      const answer = await call(...args)
      if (after) at(after, matters)
      return answer
    }
  return {
    ...payments,
    createIntent: around('before-intent', null, payments.createIntent),
    confirmIntent: around('before-charge', 'after-charge', payments.confirmIntent),
    captureIntent: around('before-settling', 'after-settling', payments.captureIntent),
    cancelIntent: around('before-settling', 'after-settling', payments.cancelIntent),
  }
}

/** Dies as soon as somebody else could see what the call has done. */
async function dieAfterCommit(db: Db, invocationId: string): Promise<void> {
  for (;;) {
    if (await db.selectFrom('audit').select('operation').where('invocation_id', '=', invocationId).executeTakeFirst()) die()
  }
}

function watchedOperation(op: AnyOperation): AnyOperation {
  const outside = new Map<string, Db>()
  return {
    ...op,
    prepare: async (context, input, facts) => {
      outside.set(context.invocationId, context.db)
      return await op.prepare?.({ ...context, payments: watched(context.payments, context.idempotencyKey === key) }, input, facts)
    },
    execute: async (context, input, facts, prepared) => {
      const matters = context.idempotencyKey === key
      const answer = await op.execute(context, input, facts, prepared)
      at('before-commit', matters)
      if (matters && point === 'after-commit') void dieAfterCommit(outside.get(context.invocationId)!, context.invocationId)
      outside.delete(context.invocationId)
      return answer
    },
  }
}

const watchedTask = (job: AnyTask): AnyTask => ({
  ...job,
  run: (context, data) => job.run({ ...context, payments: watched(context.payments, true) }, data),
})

if (import.meta.main) {
  const all = new Map([...operations, ...[buy, end].map((op) => [op.id, op] as const)])
  for (const id of ['billing.topup', buy.id]) all.set(id, watchedOperation(all.get(id)!))
  await run({ operations: all, tasks: tasks.map((job) => (job.name === 'billing.settle_reservation' ? watchedTask(job) : job)) })
}
