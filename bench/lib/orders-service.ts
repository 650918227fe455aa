/**
 * The service of `bench -- orders` in a process of its own, so that its computing time is that of orders alone: vendors and clients are
 * in the process that started it, and work that a queue would start is started by messages.
 */
import type { TestContext } from 'node:test'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import { migrate } from '#db/migrate.ts'
import { openDatabase } from '#db/open.ts'
import place from '#domains/orders/place.task.ts'
import poll from '#domains/orders/poll.task.ts'
import askVendor from '#domains/orders/request-terms.task.ts'
import { grant } from '../../test/orders/support.ts'
import { testClock, world } from '../../test/support/world.ts'

export interface Setup {
  databaseUrl: string
  registry: string
  sandboxUrl: string
  secrets: Record<string, string>
  egressAllow: readonly string[]
  startAt: string
}

export type Request =
  | { open: Setup }
  | { advanceSeconds: number }
  | { signIn: true }
  | { run: 'place' | 'ask' | 'poll'; ids: readonly string[] }
  | { standings: readonly string[] }
  | { close: true }

/** As many runs as the queue has at once. */
const CONCURRENCY = 4
const CREDITS = 100_000_000
const RATE = { audPerUnit: 1.5, day: '2029-12-31', marginPercent: 3 }

const leaves: (() => Promise<void>)[] = []
const context = { after: (leave: () => Promise<void>) => void leaves.push(leave) } as unknown as TestContext

async function open({ databaseUrl, registry, sandboxUrl, secrets, egressAllow, startAt }: Setup) {
  const database = openDatabase(databaseUrl, { maxConnections: 2 })
  await migrate(database.db)
  await database.close()
  const exchange = new Map(['USD', 'EUR'].map((currency) => [currency, RATE] as const))
  const sources = parseRegistry(registry, 'the registry of this bench', { sandboxUrl, secrets, exchange })
  const w = await world(context, { databaseUrl, sources, egressAllow, clock: testClock(startAt) })
  const org = await w.organization()
  await grant(w, org, CREDITS)
  return { w, org }
}

let opened: Awaited<ReturnType<typeof open>> | null = null

async function answer(request: Request): Promise<unknown> {
  if ('open' in request) {
    opened = await open(request.open)
    const { w, org } = opened
    for (const { id } of (await w.ok(org.owner.token, 'eulas.list')).content) {
      const { content } = await w.ok(org.owner.token, 'eulas.documents.list', { eula_id: id })
      await w.ok(org.owner.token, 'eulas.document.accept', { eula_id: id, document_id: content[0].id })
    }
    return { baseUrl: w.baseUrl, projectId: org.projectId }
  }
  const { w, org } = opened!
  if ('advanceSeconds' in request) return w.clock.advance({ seconds: request.advanceSeconds })
  if ('signIn' in request) return (await w.signIn(org.owner, org.id)).token
  if ('run' in request) return await run(request.run, request.ids)
  if ('standings' in request) return await standings(request.standings)
  for (const leave of leaves) await leave()
  setImmediate(() => process.exit(0))
  return null
}

async function run(name: 'place' | 'ask' | 'poll', ids: readonly string[]): Promise<void> {
  const { w } = opened!
  const one = {
    place: (group_id: string) => w.runTask(place, { group_id }),
    ask: (group_id: string) => w.runTask(askVendor, { group_id }),
    poll: (order_id: string) => w.runTask(poll, { order_id }),
  }[name]
  const next = ids.values()
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const id of next) await one(id)
    }),
  )
}

/** How many orders are in which state. */
async function standings(ids: readonly string[]): Promise<Record<string, number>> {
  const rows = await opened!.w.db
    .selectFrom('imagery_order')
    .select('status')
    .where('id', 'in', [...ids])
    .execute()
  return Object.fromEntries([...Map.groupBy(rows, ({ status }) => status)].map(([status, each]) => [status, each.length]))
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

if (import.meta.main)
  process.on('message', (request: Request) => {
    void answer(request).then(
      (result) => process.send!({ result: result ?? null, cpuMs: cpuMs() }),
      (error: unknown) => process.send!({ error: String((error as Error).stack ?? error), cpuMs: cpuMs() }),
    )
  })
