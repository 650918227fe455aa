/**
 * CPU of the service per order that is placed and tracked: 1,000 orders at the simulators of five vendors, against orders of the same kind
 * at the sandbox. `--orders 200` a vendor, `--polls 10` an order.
 */
import { fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { newId } from '#core/ids.ts'
import { DAY_MS } from '#core/time.ts'
import { openDatabase } from '#db/open.ts'
import { startPlanet } from '../sandbox/vendors/planet/server.ts'
import { startSandboxVendors } from '../sandbox/vendors/server.ts'
import { startSkyfi } from '../sandbox/vendors/skyfi/server.ts'
import { startStapi } from '../sandbox/vendors/stapi/server.ts'
import { startUmbra } from '../sandbox/vendors/umbra/server.ts'
import { startUp42 } from '../sandbox/vendors/up42/server.ts'
import { features, square } from '../test/orders/support.ts'
import { call } from '../test/support/client.ts'
import { startServerPostgres } from '../test/support/server-postgres.ts'
import { testClock } from '../test/support/world.ts'
import { planetRegistry } from '../test/vendors/planet.ts'
import { skyfiRegistry } from '../test/vendors/skyfi.ts'
import { stapiRegistry } from '../test/vendors/stapi.ts'
import { umbraRegistry } from '../test/vendors/umbra.ts'
import { up42Registry } from '../test/vendors/up42.ts'
import type { Request, Setup } from './lib/orders-service.ts'

const { values } = parseArgs({
  options: {
    orders: { type: 'string', default: '200' },
    polls: { type: 'string', default: '10' },
    warmup: { type: 'string', default: '40' },
  },
})
const [ORDERS, POLLS, WARM_UP] = [Number(values.orders), Number(values.polls), Number(values.warmup)]
const LIMIT = 1.3
const START = '2030-01-01T00:00:00.000Z'
/** Every source is due after it; all vendors have accepted an order by the last poll, and none has delivered it. */
const ROUND_SECONDS = 3_700
const STEP_SECONDS = 3 * 3_600
const CLIENTS = 4
const SHIPPED = new URL('../src/adapters/vendors/registry.json', import.meta.url)

type Kind = 'archive' | 'tasking'
const SANDBOX: Readonly<Record<Kind, { host: string; product: string }>> = {
  archive: { host: 'sandbox-hr', product: '' },
  tasking: { host: 'sandbox-vhr', product: 'sandbox-vhr-quoted' },
}
const VENDORS: readonly { host: string; kind: Kind; product: string }[] = [
  { host: 'skyfi', kind: 'archive', product: '' },
  { host: 'planet', kind: 'archive', product: '' },
  { host: 'up42', kind: 'archive', product: '' },
  { host: 'umbra', kind: 'archive', product: '' },
  { host: 'stapi', kind: 'tasking', product: 'stapi-area' },
]

const clock = testClock(START)
const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-orders-'))
const server = await startServerPostgres()
if (!server) throw new Error('Needs a PostgreSQL in /usr/lib/postgresql')
const service = fork(path.join(import.meta.dirname, 'lib/orders-service.ts'), [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })

/** Sends a message, and counts what the service computes until it responds. */
async function tell<R>(request: Request): Promise<{ result: R; cpuMs: number }> {
  const answered = Promise.withResolvers<{ result: R; error?: string; cpuMs: number }>()
  service.once('message', (message) => answered.resolve(message as { result: R; error?: string; cpuMs: number }))
  service.once('exit', () => answered.reject(new Error('the service has ended')))
  service.send(request)
  const answer = await answered.promise
  service.removeAllListeners('exit')
  if (answer.error !== undefined) throw new Error(answer.error)
  return answer
}

interface File {
  providers: object[]
  sources: { url: string }[]
}

async function startVendors() {
  const setup = { clock, workDir, stepSeconds: STEP_SECONDS }
  const [skyfi, planet, up42] = [await startSkyfi(setup), await startPlanet(setup), await startUp42(setup)]
  const [umbra, stapi] = [await startUmbra(setup), await startStapi(setup)]
  const sandboxDatabase = openDatabase(await server!.createDatabase('sandbox'), { maxConnections: 4 })
  const sandbox = await startSandboxVendors({
    db: sandboxDatabase.db,
    host: '127.0.0.1',
    port: 0,
    clock,
    workDir,
    deliverySeconds: STEP_SECONDS,
  })
  const shipped = JSON.parse(readFileSync(SHIPPED, 'utf8')) as File
  const files = [skyfiRegistry(skyfi), planetRegistry(planet), up42Registry(up42), umbraRegistry(umbra), stapiRegistry(stapi)].map(
    (text) => JSON.parse(text) as File,
  )
  const sources = [...shipped.sources.filter(({ url }) => url === 'sandbox'), ...files.flatMap((file) => file.sources)]
  const registry = JSON.stringify({ ...shipped, providers: [...shipped.providers, ...files.at(-1)!.providers], sources })
  const secrets = {
    VENDOR_SKYFI_KEY: skyfi.key,
    VENDOR_PLANET_KEY: planet.key,
    VENDOR_UP42_USER: up42.user,
    VENDOR_UP42_PASSWORD: up42.password,
    VENDOR_UMBRA_CLIENT_ID: umbra.clientId,
    VENDOR_UMBRA_CLIENT_SECRET: umbra.clientSecret,
    VENDOR_STAPI_KEY: stapi.key,
  }
  const egressAllow = [skyfi, planet, up42, umbra, stapi].flatMap(({ hosts }) => Object.values(hosts))
  const counts = {
    skyfi: () => skyfi.orders.length,
    planet: () => planet.orders.length,
    up42: () => up42.orders.length,
    umbra: () => umbra.tasks.length,
    stapi: () => stapi.orders.length,
  }
  return {
    setup: { registry, secrets, egressAllow, sandboxUrl: sandbox.url } satisfies Partial<Setup>,
    counts: counts as Readonly<Record<string, () => number>>,
    async close() {
      for (const vendor of [skyfi, planet, up42, umbra, stapi, sandbox]) await vendor.close()
      await sandboxDatabase.close()
    },
  }
}

class Customer {
  readonly #baseUrl: string
  readonly #projectId: string
  #token = ''

  constructor({ baseUrl, projectId }: { baseUrl: string; projectId: string }) {
    this.#baseUrl = baseUrl
    this.#projectId = projectId
  }

  async signIn(): Promise<void> {
    this.#token = (await tell<string>({ signIn: true })).result
  }

  // oxlint-disable-next-line typescript/no-explicit-any
  async call(id: string, input: object): Promise<any> {
    const { status, body, text } = await call(this.#baseUrl, this.#token, id, input, { 'idempotency-key': newId() })
    if (status !== 200) throw new Error(`${id}: ${status} ${text}`)
    return body
  }

  /** Several clients at once. */
  async each<T, R>(values: readonly T[], work: (value: T) => Promise<R>): Promise<R[]> {
    const results: R[] = []
    const next = values.entries()
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        for (const [index, value] of next) results[index] = await work(value)
      }),
    )
    return results
  }

  async place(host: string, kind: Kind, product: string, count: number) {
    const times = Array.from({ length: count }, (_, index) => index)
    if (kind === 'tasking') {
      const day = (days: number) => new Date(clock.now().getTime() + days * DAY_MS).toISOString()
      const params = { acquisitionStart: day(2), acquisitionEnd: day(20) }
      const group = { dataProduct: product, featureCollection: features(square(2.3, 48.2, 0.005)), params }
      return await this.each(times, () => this.call('orders.tasking.place', { projectId: this.#projectId, groups: [group] }))
    }
    const { features: scenes } = await this.call('catalog.search', { host_name: host, intersects: square(), limit: 10 })
    const placed = (index: number) =>
      this.call('orders.archive.place', {
        projectId: this.#projectId,
        captures: [{ id: scenes[index % scenes.length].id, geometry: square(), host }],
      })
    return await this.each(times, placed)
  }

  async accept(orderIds: readonly string[]): Promise<void> {
    await this.each(orderIds, async (orderId) => {
      const { content } = await this.call('orders.tasking.quotations.list', { orderId })
      await this.call('orders.tasking.quotation_decide', { quotation_id: content[0].id, decision: 'ACCEPTED' })
    })
  }
}

async function advance(seconds: number): Promise<void> {
  clock.advance({ seconds })
  await tell({ advanceSeconds: seconds })
}

interface Cost {
  readonly placing: number
  readonly tracking: number
}

/** Milliseconds of CPU per order. */
async function measure(customer: Customer, host: string, kind: Kind, product: string, count: number): Promise<Cost> {
  await customer.signIn()
  const start = (await tell({ standings: [newId()] })).cpuMs
  const orders = await customer.place(host, kind, product, count)
  const ids = orders.map(({ id }) => id as string)
  const groups = orders.map((order) => order.groups[0].id as string)
  if (kind === 'tasking') {
    await tell({ run: 'ask', ids: groups })
    // The sandbox quotes after a while, which is polled; we quote for a server of the standard at once.
    if (host.startsWith('sandbox')) {
      await advance(STEP_SECONDS)
      await customer.signIn()
      await tell({ run: 'poll', ids })
    }
    await customer.accept(ids)
  }
  const placed = (await tell({ run: 'place', ids: groups })).cpuMs
  let polled = placed
  for (let round = 0; round < POLLS; round++) {
    await advance(ROUND_SECONDS)
    polled = (await tell({ run: 'poll', ids })).cpuMs
  }
  const { result } = await tell<Record<string, number>>({ standings: ids })
  if (result['awaiting_data'] !== count) throw new Error(`${host}: ${JSON.stringify(result)} instead of ${count} orders that were accepted`)
  return { placing: (placed - start) / count, tracking: (polled - placed) / count }
}

const sum = ({ placing, tracking }: Cost): number => placing + tracking
const mean = (costs: readonly Cost[]): number => costs.reduce((total, cost) => total + sum(cost), 0) / costs.length
const row = (name: string, { placing, tracking }: Cost, base: Cost) =>
  `${name.padEnd(20)}  ${placing.toFixed(2).padStart(7)}  ${tracking.toFixed(2).padStart(8)}  ` +
  `${(placing + tracking).toFixed(2).padStart(5)}  ${(sum({ placing, tracking }) / sum(base)).toFixed(2)}`

const vendors = await startVendors()
try {
  const { result } = await tell<{ baseUrl: string; projectId: string }>({
    open: { ...vendors.setup, databaseUrl: await server.createDatabase('orders'), startAt: START },
  })
  const customer = new Customer(result)
  const sandboxOf = async (kind: Kind, count: number) => {
    const { host, product } = SANDBOX[kind]
    return await measure(customer, host, kind, product, count)
  }
  for (const kind of ['archive', 'tasking'] as const) await sandboxOf(kind, WARM_UP)
  for (const { host, kind, product } of VENDORS) await measure(customer, host, kind, product, WARM_UP)
  console.log(`${ORDERS} orders a vendor, ${POLLS} polls an order; milliseconds of CPU of the service per order\n`)
  console.log(`${''.padEnd(20)}  placing  tracking  total  ratio`)
  const costs: Cost[] = []
  const bases: Cost[] = []
  for (const { host, kind, product } of VENDORS) {
    // Side by side, because everything becomes slower as tables grow, and others use the machine.
    const before = await sandboxOf(kind, ORDERS / 2)
    const placedBefore = vendors.counts[host]!()
    const cost = await measure(customer, host, kind, product, ORDERS)
    if (vendors.counts[host]!() - placedBefore !== ORDERS) throw new Error(`${host} has ${vendors.counts[host]!() - placedBefore} orders`)
    const after = await sandboxOf(kind, ORDERS / 2)
    const base = { placing: (before.placing + after.placing) / 2, tracking: (before.tracking + after.tracking) / 2 }
    console.log(row(`sandbox, ${kind}`, base, base))
    console.log(row(`${host}, ${kind}`, cost, base))
    costs.push(cost)
    bases.push(base)
  }
  const ratio = mean(costs) / mean(bases)
  console.log(
    `\n${ORDERS * VENDORS.length} orders at ${VENDORS.length} vendors: ${mean(costs).toFixed(2)} ms per order, ` +
      `${ratio.toFixed(2)} × the sandbox's ${mean(bases).toFixed(2)} ms ${ratio <= LIMIT ? 'within' : 'ABOVE'} ${LIMIT}`,
  )
  process.exitCode = ratio <= LIMIT ? 0 : 1
  await tell({ close: true })
} finally {
  service.kill()
  await vendors.close()
  await server.stop()
  rmSync(workDir, { recursive: true, force: true })
}
