/** Deliveries a second against the bare HTTP client, what a hanging endpoint costs the others, and what an event costs its change. */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { createWebhooks } from '#adapters/webhooks/sender.ts'
import { startLoop, type Loop } from '#background/loop.ts'
import { systemClock } from '#core/clock.ts'
import { newId } from '#core/ids.ts'
import { SERVICE } from '#core/principal.ts'
import { headersOf, newSecret } from '#core/webhooks.ts'
import { startEmbedded, SUPERUSER } from '#db/embedded.ts'
import { migrate } from '#db/migrate.ts'
import { openDatabase } from '#db/open.ts'
import * as subscriptions from '#model/events/subscription.ts'
import * as outbox from '#model/platform/outbox.ts'
import { createDeliverer } from '#services/webhooks/deliverer.ts'

const { values } = parseArgs({ options: { deliveries: { type: 'string', default: '6000' }, endpoints: { type: 'string', default: '20' } } })
const DELIVERIES = Number(values.deliveries)
const ENDPOINTS = Number(values.endpoints)
const CONCURRENCY = 200
/** Steady traffic: rounds without and with an endpoint that hangs by turns, so that neither has the quieter machine. */
const ROUNDS = 12
/** Fill what a hanging endpoint may hold; not measured. */
const EVENTS_BEFORE = 25
const EVENTS_A_ROUND = 30
const PAUSE_MS = 15

const hooks = new Worker(path.join(import.meta.dirname, 'lib/hook-server.ts'))
const [{ port }] = (await once(hooks, 'message')) as [{ port: number }]
const seen = async (): Promise<{ count: number; waits: number[] }> => {
  hooks.postMessage('count')
  return ((await once(hooks, 'message')) as [{ count: number; waits: number[] }])[0]
}
const at = (values: readonly number[], part: number): number => values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0
const urlOf = (n: number) => `http://127.0.0.1:${port}/hook/${n}`
const sender = () => createWebhooks({ allow: [`127.0.0.1:${port}`], backoffSeconds: [60], timeoutMs: 15_000 })

const dataDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-bench-'))
const server = await startEmbedded(dataDir, {})
const { db, close } = openDatabase({ host: server.socketDir, user: SUPERUSER, database: 'postgres' })
try {
  await migrate(db)
  const organizationId = await seed()
  await floor()
  const bare = await floor()
  show('the bare client', bare)
  const oneWorker = await delivered(1)
  show('one worker', oneWorker)
  console.log(`  ${((oneWorker.perSecond / bare.perSecond) * 100).toFixed(0)}% of the bare client`)
  show('two workers', await delivered(2))
  await hanging()
  await costs()

  async function seed(): Promise<string> {
    const [userId, orgId, now] = [newId(), newId(), new Date()]
    await db
      .insertInto('app_user')
      .values({ id: userId, email: 'bench@example.com', name: 'x', password_hash: 'x', created_at: now })
      .execute()
    await db
      .insertInto('organization')
      .values({ id: orgId, name: 'Bench', slug: 'bench', retention_since: now, created_at: now, updated_at: now })
      .execute()
    return orgId
  }

  async function subscribe(url: string): Promise<void> {
    const wanted = { organizationId, eventType: 'collection.created', endpointUrl: url, filterConfig: {}, headers: {}, description: null }
    await db.transaction().execute((tx) => subscriptions.insert(tx, { ...SERVICE, organizationId }, wanted, new Date()))
  }

  async function emit(count: number): Promise<number> {
    const data = { id: 'x', project_id: newId(), name: 'Bench', created_at: new Date().toISOString(), deleted_at: null }
    const startedMs = performance.now()
    for (let n = 0; n < count; n++)
      await db
        .transaction()
        .execute((tx) =>
          outbox.write(tx, organizationId, organizationId, [{ type: 'collection.created', entityId: 'x', data }], new Date()),
        )
    return (performance.now() - startedMs) / count
  }

  async function measured(work: () => Promise<void>): Promise<Figures> {
    const [cpu, startedMs] = [process.cpuUsage(), performance.now()]
    await work()
    const { user, system } = process.cpuUsage(cpu)
    return { perSecond: DELIVERIES / ((performance.now() - startedMs) / 1_000), cpuMs: (user + system) / 1_000 / DELIVERIES }
  }

  async function floor(): Promise<Figures> {
    const webhooks = sender()
    const body = JSON.stringify({ event_id: newId(), data: { name: 'x'.repeat(200) } })
    const headers = headersOf(body, { eventId: 'x', eventType: 'x', attemptId: 'x', secrets: [newSecret()], at: new Date() })
    let next = 0
    const figures = await measured(async () => {
      const post = async () => {
        while (next < DELIVERIES) await webhooks.post(urlOf(next++ % ENDPOINTS), headers, body)
      }
      await Promise.all(Array.from({ length: CONCURRENCY }, post))
    })
    await webhooks.close()
    return figures
  }

  /** Everything is queued first, so that nothing but delivering is measured. */
  async function delivered(workers: number): Promise<Figures> {
    await db.deleteFrom('event_subscription').execute()
    for (let n = 0; n < ENDPOINTS; n++) await subscribe(urlOf(n))
    await emit(Math.ceil(DELIVERIES / ENDPOINTS))
    const before = (await seen()).count
    const started: { stop(): Promise<void> }[] = []
    const figures = await measured(async () => {
      for (let n = 0; n < workers; n++) started.push(start())
      await until(before + DELIVERIES)
    })
    for (const { stop } of started) await stop()
    return figures
  }

  function start(): { wake(): void; stop(): Promise<void> } {
    const webhooks = sender()
    let loop: Loop | null = null
    const deliverer = createDeliverer({ db, clock: systemClock, webhooks, onError: console.error, onCapacity: () => loop?.wake() })
    loop = startLoop({ step: deliverer.step, restMs: 500, gapMs: 5, onError: console.error })
    return {
      wake: loop.wake,
      async stop() {
        await loop.close()
        hooks.postMessage('release') // Whoever hung answers now, so that everything ends.
        await deliverer.close()
        await webhooks.close()
      },
    }
  }

  /** What one endpoint that hangs adds to the way from event to endpoint of all others. */
  async function hanging(): Promise<void> {
    const rounds = { calm: [] as Round[], beside: [] as Round[] }
    for (let round = 0; round < ROUNDS; round++) {
      if (round % 2 === 0) rounds.calm.push(await live(false))
      rounds.beside.push(await live(true))
      if (round % 2 === 1) rounds.calm.push(await live(false))
    }
    const middle = (pick: (round: Round) => number, of: readonly Round[]) => at(of.map(pick), 0.5)
    const more = (pick: (round: Round) => number) =>
      at(
        rounds.beside.map((round, n) => pick(round) / pick(rounds.calm[n]!) - 1),
        0.5,
      ) * 100
    const [p95, cpuMs] = [(round: Round) => round.p95, (round: Round) => round.cpuMs]
    console.log(
      `p95 from event to endpoint: ${middle(p95, rounds.calm)} ms where all answer, ${middle(p95, rounds.beside)} ms beside one that hangs`,
    )
    console.log(`an endpoint that hangs adds ${more(p95).toFixed(0)}% to that, and ${more(cpuMs).toFixed(0)}% to this process's CPU`)
    console.log(`  (medians of ${ROUNDS} pairs of rounds; the target is under 10%)`)
  }

  /** Events at a steady pace, as in life. */
  async function live(withHanging: boolean): Promise<Round> {
    await db.deleteFrom('event_subscription').execute()
    for (let n = 0; n < ENDPOINTS; n++) await subscribe(urlOf(n))
    if (withHanging) await subscribe(`http://127.0.0.1:${port}/hang`)
    await sql`vacuum webhook_delivery, event`.execute(db)
    const { count } = await seen()
    const { wake, stop } = start()
    await emit(EVENTS_BEFORE)
    wake()
    await until(count + EVENTS_BEFORE * ENDPOINTS)
    const cpu = process.cpuUsage()
    for (let n = 0; n < EVENTS_A_ROUND; n++) {
      await emit(1)
      wake()
      await sleep(PAUSE_MS)
    }
    const waits = await until(count + (EVENTS_BEFORE + EVENTS_A_ROUND) * ENDPOINTS)
    const { user, system } = process.cpuUsage(cpu)
    await stop()
    return { p95: at(waits, 0.95), cpuMs: (user + system) / 1_000 }
  }

  /** Waits until so many have come, and gives how long those since the last question were under way. */
  async function until(wanted: number): Promise<number[]> {
    const waits: number[] = []
    for (;;) {
      const now = await seen()
      waits.push(...now.waits)
      if (now.count >= wanted) return waits
      await sleep(5)
    }
  }

  async function costs(): Promise<void> {
    for (const count of [0, 1, 100]) {
      await db.deleteFrom('event_subscription').execute()
      for (let n = 0; n < count; n++) await subscribe(urlOf(n))
      await emit(50)
      console.log(`an event with ${count} matching subscriptions: ${(await emit(200)).toFixed(2)} ms with its transaction`)
    }
  }
} finally {
  await close()
  await server.leave()
  await hooks.terminate()
  rmSync(dataDir, { recursive: true, force: true })
}

interface Round {
  p95: number
  cpuMs: number
}

interface Figures {
  perSecond: number
  cpuMs: number
}

function show(name: string, { perSecond, cpuMs }: Figures): void {
  console.log(`${name}: ${perSecond.toFixed(0)} deliveries a second, ${cpuMs.toFixed(3)} ms of this process's CPU each`)
}
