/** Kills the service at named points of payments, repeats what got no answer, and compares our books with the processor's. */
import type { TestContext } from 'node:test'
import sweepPayments from '#domains/billing/sweep-payments.task.ts'
import { newId } from '#core/ids.ts'
import { call, createOwner, ok, type Owner } from '../support/client.ts'
import { seeded } from '../support/random.ts'
import type { Lab } from '../support/service.ts'
import { world } from '../support/world.ts'
import { moneyViolations, processorViolations } from './invariants.ts'
import { POINTS, type Point } from './service.ts'

interface PaymentCampaign {
  databaseUrl: string
  kills: number
  seed: number
  /** Where to kill, in turn. */
  points: readonly Point[]
  onRound?: (line: string) => void
}

interface PaymentResult {
  kills: Record<Point, number>
  /** Top-ups that were asked for, by their keys; each is one payment or none. */
  topups: number
  acknowledged: number
  grants: number
  holds: number
  violations: string[]
}

const BESIDE = 2
/** Part of the unanswered requests that is repeated; each may have to wait for the lease of the process that died. */
const RETRIED = 0.15

export async function paymentCampaign(lab: Lab, { databaseUrl, kills, seed, points, onRound }: PaymentCampaign): Promise<PaymentResult> {
  const random = seeded(seed)
  const dataDir = lab.dataDir()
  const start = (more: Record<string, string> = {}) =>
    lab.start({ entry: 'test/money/service.ts', env: { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, DEMO: '0', ...more } })
  let service = await start()
  const payer = await founded(service.baseUrl, `payer-${seed}@example.com`, true)
  const buyer = await founded(service.baseUrl, `buyer-${seed}@example.com`, false)
  const result: PaymentResult = {
    kills: Object.fromEntries(POINTS.map((point) => [point, 0])) as Record<Point, number>,
    topups: 0,
    acknowledged: 0,
    grants: 0,
    holds: 0,
    violations: [],
  }
  const topup = (key: string) =>
    call(service.baseUrl, payer.token, 'billing.topup', { aud_cents: 10_000 }, { 'idempotency-key': key }).catch(() => null)
  const order = (key: string) =>
    call(service.baseUrl, buyer.token, 'orders.test_buy', { credits: 100 }, { 'idempotency-key': key }).catch(() => null)
  const confirmed = new Set<string>()
  const noteTopup = (key: string, answer: Awaited<ReturnType<typeof topup>>) => {
    if (answer?.status === 200) confirmed.add(key)
  }
  let unanswered: string[] = []

  for (let round = 0; round < kills; round++) {
    const point = points[round % points.length]!
    const key = newId()
    await service.kill('SIGKILL')
    service = await start({ KILL_POINT: point, KILL_KEY: key })
    const again = unanswered.filter(() => random.next() < RETRIED)
    for (const key of again) noteTopup(key, await topup(key))
    unanswered = []
    const others = Array.from({ length: BESIDE }, () => newId())
    const beside = others.map(async (key) => noteTopup(key, await topup(key)))
    if (point.endsWith('settling')) await settleSomething(service.baseUrl, buyer, order)
    else if (random.next() < 0.5) {
      result.topups++
      noteTopup(key, await topup(key))
      unanswered.push(key)
    } else await order(key)
    await service.exited
    await Promise.all(beside)
    result.topups += others.length
    unanswered.push(...others.filter((key) => !confirmed.has(key)))
    result.kills[point]++
    onRound?.(`${round + 1} ${point}`)
  }
  result.acknowledged = confirmed.size
  return await reconciled(databaseUrl, result)
}

/** An order is placed and delivered or given up; the work that follows in the background meets the point. */
async function settleSomething(
  baseUrl: string,
  buyer: Owner,
  order: (key: string) => Promise<{ status: number; body: { id: string } } | null>,
): Promise<void> {
  const placed = await order(newId())
  if (placed?.status !== 200) throw new Error(`the order was not placed: ${JSON.stringify(placed?.body)}`)
  await call(baseUrl, buyer.token, 'orders.test_end', {
    id: placed.body.id,
    how: Number.parseInt(placed.body.id.at(-1)!, 16) % 2 ? 'capture' : 'release',
  }).catch(() => null)
}

async function founded(baseUrl: string, email: string, pays: boolean): Promise<Owner> {
  const owner = await createOwner(baseUrl, email)
  await ok(baseUrl, owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
  const { key } = await ok(baseUrl, owner.token, 'api_keys.create', {
    name: pays ? 'payer' : 'buyer',
    permissions: ['read', 'write'],
    rate_limit: 1_000_000,
  })
  return { ...owner, token: key }
}

/** A later hour: what is left half-way is old enough for the sweep. */
async function reconciled(databaseUrl: string, result: PaymentResult): Promise<PaymentResult> {
  const closing: (() => unknown)[] = []
  const w = await world({ after: (close: () => unknown) => closing.push(close) } as unknown as TestContext, {
    databaseUrl,
    startAt: new Date(Date.now() + 3_600_000).toISOString(),
  })
  try {
    for (let round = 0; round < 3; round++) await w.runTask(sweepPayments)
    result.violations = [...(await moneyViolations(w.db)), ...(await processorViolations(w.db))]
    const open = await w.db
      .selectFrom('payment_attempt')
      .select(['id', 'status'])
      .where('status', 'in', ['created', 'pending', 'authorized'])
      .execute()
    result.violations.push(...open.map(({ id, status }) => `attempt ${id} is still ${status}`))
    const undecided = await w.db.selectFrom('reservation').select('id').where('state', 'in', ['capturing', 'releasing']).execute()
    result.violations.push(...undecided.map(({ id }) => `reservation ${id} was decided and not settled`))
    result.grants = (await w.db.selectFrom('ledger_transfer').select('id').where('type', '=', 'topup').execute()).length
    result.holds = (await w.db.selectFrom('payment_attempt').select('id').where('status', '=', 'held').execute()).length
    if (result.grants < result.acknowledged || result.grants > result.topups)
      result.violations.push(`${result.grants} grants for ${result.acknowledged} acknowledged of ${result.topups} top-ups`)
  } finally {
    for (const close of closing) await close()
  }
  return result
}
