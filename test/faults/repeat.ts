/** Many identical requests with one key, at once and over two processes. */
import { sql } from 'kysely'
import { call, createOwner, ok, type Reply } from '../support/client.ts'
import { embeddedUrl, MAIN_WITH_TEST_OPERATIONS, type Lab } from '../support/service.ts'
import { withDatabase } from './kill.ts'
import { createEffects, effect } from './operations.ts'

/** Keys whose requests are under way at the same time. */
const KEYS_AT_ONCE = 10

interface RepeatResult {
  keys: number
  requests: number
  effects: number
  keysWithOneEffect: number
  keysWithOneAnswer: number
  /** Answers without `Idempotent-Replayed`, and with it. */
  firsts: number
  replays: number
  conflicts: number
  failures: string[]
  seconds: number
}

export async function idempotencyRun(
  lab: Lab,
  options: { keys: number; repeats: number; databaseUrl: string | null },
): Promise<RepeatResult> {
  const dataDir = lab.dataDir()
  const env = { DATA_DIR: dataDir, DEMO: '0', ...(options.databaseUrl ? { DATABASE_URL: options.databaseUrl } : {}) }
  const services = await Promise.all([0, 1].map(() => lab.start({ env, entry: MAIN_WITH_TEST_OPERATIONS })))
  const url = options.databaseUrl ?? embeddedUrl(dataDir)
  await withDatabase(url, createEffects)
  const owner = await createOwner(services[0]!.baseUrl, 'owner@example.com')
  const { key } = await ok(services[0]!.baseUrl, owner.token, 'api_keys.create', {
    name: 'for repeats',
    permissions: ['read', 'write'],
    rate_limit: 1_000_000,
  })
  const send = (index: number, token: string, idempotencyKey: string) =>
    call(services[index % 2]!.baseUrl, key, effect.id, { token }, { 'idempotency-key': idempotencyKey })

  const result: RepeatResult = {
    keys: options.keys,
    requests: 0,
    effects: 0,
    keysWithOneEffect: 0,
    keysWithOneAnswer: 0,
    firsts: 0,
    replays: 0,
    conflicts: 0,
    failures: [],
    seconds: 0,
  }
  const repeatOnce = async (number: number): Promise<void> => {
    const idempotencyKey = `key-${number}`
    const replies = await Promise.all(Array.from({ length: options.repeats }, (_, index) => send(index, `token-${number}`, idempotencyKey)))
    const other = await send(number, `other-${number}`, idempotencyKey)
    count(result, replies, other)
  }
  const began = performance.now()
  let next = 0
  await Promise.all(
    Array.from({ length: KEYS_AT_ONCE }, async () => {
      while (next < options.keys) await repeatOnce(next++)
    }),
  )
  result.seconds = (performance.now() - began) / 1000
  await withDatabase(url, async (db) => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from test_effect group by token`.execute(db)
    result.effects = rows.reduce((sum, row) => sum + row.n, 0)
    result.keysWithOneEffect = rows.filter((row) => row.n === 1).length
  })
  return result
}

function count(result: RepeatResult, replies: readonly Reply[], other: Reply): void {
  result.requests += replies.length + 1
  for (const reply of replies) {
    if (reply.status !== 200) result.failures.push(`${reply.status} ${reply.text}`)
    else if (reply.headers.get('idempotent-replayed')) result.replays++
    else result.firsts++
  }
  if (new Set(replies.map((reply) => reply.text)).size === 1) result.keysWithOneAnswer++
  if (other.status === 409 && other.body.code === 'idempotency-conflict') result.conflicts++
}
