/**
 * Those who write and read without a pause while the cluster is struck, as good clients do: a write that was not acknowledged is sent
 * again with the same idempotency key until it is. The journal knows what was acknowledged, and how long every call took.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'
import { call, createOwner, ok, type Reply } from '../support/client.ts'
import { effect } from '../faults/operations.ts'
import { scene } from '../support/scene.ts'
import { striped } from '../support/tiff.ts'

/** One call, as its caller saw it. */
interface Sample {
  operation: string
  startedAtMs: number
  ms: number
  /** 0: the connection broke or nobody answered. */
  status: number
}

export interface Journal {
  /** Calls since the last time it was asked. */
  take(): Sample[]
  /** When the last call began that failed or was slow; calls that still wait count. */
  lastBadMs(): number
  goodSince(ms: number): number
  acknowledged(): number
  /** Answers that contradict each other or what was sent. */
  contradictions: string[]
  /** Waits until nobody writes; the returned function lets them go on. */
  pause(): Promise<() => void>
  /** What the database lacks of what was acknowledged, or has twice. */
  compare(db: Db): Promise<string[]>
  /** Uploads whose files the workers have not finished. */
  unfinished(db: Db): Promise<string[]>
  stop(): Promise<void>
}

const WRITERS = 4
const READERS = 4
const REST_MS = 100
const RETRY_MS = 500
/** What takes longer is given up, and counted with this time. */
const PATIENCE_MS = 60_000
/** Statuses that say: not now, or not here. */
const LATER = new Set([0, 429, 502, 503, 504, 507])

interface Access {
  entrances: readonly string[]
  key: string
  projectId: string
  /** Somebody else, who only reads, and whom a replica can serve all the time. */
  bystander: { key: string; projectId: string }
}

/** `slowMs`: what takes longer is no better than a failure. */
export async function openJournal(entrances: readonly string[], slowMs: number): Promise<Journal> {
  const join = async (name: string): Promise<{ key: string; projectId: string }> => {
    const owner = await createOwner(entrances[0]!, `${name}@example.com`)
    const permissions = ['read', 'write']
    const { key } = await ok(entrances[0]!, owner.token, 'api_keys.create', { name, permissions, rate_limit: 1_000_000 })
    const { id: projectId } = await ok(entrances[0]!, owner.token, 'projects.create', { name: 'counter-0' })
    return { key, projectId }
  }
  return await startJournal({ entrances, ...(await join('journal')), bystander: await join('bystander') }, slowMs)
}

async function startJournal(access: Access, slowMs: number): Promise<Journal> {
  const [cog, plain] = [await scene({ width: 64, height: 64 }), striped({ width: 100, height: 300 })]
  const samples: Sample[] = []
  const waiting = new Set<number>()
  const contradictions: string[] = []
  /** Tokens by whether they were acknowledged; a project has the name of its token. */
  const tokens = new Map<string, boolean>()
  const projects = new Map<string, boolean>()
  const items = new Set<string>()
  let counter = 0
  let isCounterOpen = false
  let acknowledged = 0
  let lastBadMs = -Infinity
  const good: number[] = []
  let isStopped = false
  let resumed: Promise<void> | null = null
  let writing = 0
  let turn = 0

  /** Sends a call by the next entrance and notes how it went. */
  const send = async (operation: string, input: object, idempotencyKey?: string, key = access.key): Promise<Reply | null> => {
    const startedAtMs = performance.now()
    waiting.add(startedAtMs)
    const entrance = access.entrances[turn++ % access.entrances.length]!
    const headers = idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}
    const reply = await within(call(entrance, key, operation, input, headers))
    waiting.delete(startedAtMs)
    note(operation, startedAtMs, reply?.status ?? 0)
    return reply
  }
  const note = (operation: string, startedAtMs: number, status: number): void => {
    const ms = performance.now() - startedAtMs
    samples.push({ operation, startedAtMs, ms, status })
    if (ms > slowMs || status === 0 || status >= 400) lastBadMs = Math.max(lastBadMs, startedAtMs)
    else good.push(startedAtMs)
  }
  /** Sends a write until it is acknowledged; null if it was refused. */
  const write = async (operation: string, input: object, idempotencyKey: string): Promise<Reply | null> => {
    for (;;) {
      const reply = await send(operation, input, idempotencyKey)
      if (reply && reply.status < 300) {
        acknowledged++
        return reply
      }
      // A call of before may still run: its key is answered when it has ended.
      const isInProgress = reply?.status === 409 && reply.body?.code === 'idempotency-in-progress'
      if (reply && reply.status !== 500 && !LATER.has(reply.status) && !isInProgress) {
        contradictions.push(`${operation} answered ${reply.status}: ${reply.text}`)
        return null
      }
      if (isStopped) return null
      await sleep(RETRY_MS)
    }
  }

  const loop = (step: (n: number) => Promise<void>, restMs = REST_MS): Promise<void> =>
    (async () => {
      for (let n = 1; !isStopped; n++) {
        await resumed
        writing++
        await step(n).finally(() => writing--)
        await sleep(restMs)
      }
    })()

  const effects = (writer: number) =>
    loop(async (n) => {
      const token = `effect-${writer}-${n}`
      tokens.set(token, false)
      if (await write(effect.id, { token }, token)) tokens.set(token, true)
    })
  const creations = (writer: number) =>
    loop(async (n) => {
      const name = `project-${writer}-${n}`
      projects.set(name, false)
      if (await write('projects.create', { name }, name)) projects.set(name, true)
    })
  /** Changes one row over and over: the last acknowledged change must be there, or the one after it. */
  const changes = () =>
    loop(async () => {
      isCounterOpen = true
      const name = `counter-${counter + 1}`
      if (!(await write('projects.update', { project_id: access.projectId, name }, name))) return
      counter++
      isCounterOpen = false
    })
  const uploads = () =>
    loop(async (n) => {
      const id = await upload(n, n % 2 === 0 ? cog : plain)
      if (id) items.add(id)
    }, REST_MS * 5)
  /** Until bytes are stored nothing is promised, so a session that fails is left behind; its completion is repeated. */
  const upload = async (n: number, bytes: Uint8Array): Promise<string | null> => {
    const session = await send('uploads.initiate', { project_id: access.projectId, file_count: 1, total_bytes: bytes.length })
    if (session?.status !== 200) return null
    const place = await send('uploads.signed_url', { upload_id: session.body.id, file_name: `${n}.tif`, content_type: 'image/tiff' })
    if (place?.status !== 200) return null
    const stored = await within(
      fetch(place.body.upload_url, { method: 'PUT', headers: { 'content-type': 'image/tiff' }, body: bytes as never }),
    )
    if (stored?.status !== 200) return null
    const completed = await write('uploads.complete', { upload_id: session.body.id }, `upload-${n}-${session.body.id}`)
    return completed?.body.item_ids[0] ?? null
  }
  /** What was acknowledged is read from then on, also where a replica answers. */
  const reads = () =>
    loop(async (n) => {
      const item = [...items].at(-(n % 5) - 1)
      if (n % 3 === 0 && item) {
        const reply = await send('items.get', { item_id: item })
        if (reply?.status === 404) contradictions.push(`item ${item} is not found`)
        return
      }
      const expected = counter
      const reply = await send('projects.get', { project_id: access.projectId })
      const found = reply?.status === 200 ? Number(reply.body.name.split('-')[1]) : expected
      if (found < expected) contradictions.push(`counter-${found} was read after counter-${expected} had been acknowledged`)
    })
  const watches = ({ key, projectId }: Access['bystander']) =>
    loop(async () => void (await send('projects.get', { project_id: projectId }, undefined, key)))

  const running = [
    ...Array.from({ length: WRITERS }, (_, n) => (n % 2 ? effects(n) : creations(n))),
    ...Array.from({ length: READERS }, (_, n) => (n % 2 ? reads() : watches(access.bystander))),
    changes(),
    uploads(),
  ]
  return {
    contradictions,
    take: () => samples.splice(0),
    lastBadMs: () => Math.max(lastBadMs, ...[...waiting].filter((startedAtMs) => performance.now() - startedAtMs > slowMs)),
    goodSince: (ms) => good.filter((startedAtMs) => startedAtMs >= ms).length,
    acknowledged: () => acknowledged,
    async pause() {
      let resume = () => {}
      resumed = new Promise((resolve) => (resume = resolve))
      while (writing > 0) await sleep(10)
      good.length = 0
      return () => {
        resumed = null
        resume()
      }
    },
    async compare(db) {
      const name = await db.selectFrom('project').select('name').where('id', '=', access.projectId).executeTakeFirst()
      const expected = [`counter-${counter}`, ...(isCounterOpen ? [`counter-${counter + 1}`] : [])]
      return [
        ...compareCounts('effect', tokens, await countsOf(db, sql`select token as name, count(*)::int as n from test_effect group by 1`)),
        ...compareCounts(
          'project',
          projects,
          await countsOf(db, sql`select name, count(*)::int as n from project where name like 'project-%' group by 1`),
        ),
        ...(expected.includes(name?.name ?? '') ? [] : [`the project is called ${name?.name}, not ${expected.join(' or ')}`]),
        ...(await missingItems(db, items)),
      ]
    },
    async unfinished(db) {
      const rows = await db.selectFrom('upload_file').select(['name', 'state']).where('state', '=', 'converting').execute()
      return rows.map((row) => `${row.name} is still being converted`)
    },
    async stop() {
      isStopped = true
      await Promise.all(running)
    },
  }
}

async function within<T>(promise: Promise<T>): Promise<T | null> {
  const late = new AbortController()
  try {
    return await Promise.race([promise.catch(() => null), sleep(PATIENCE_MS, null, { signal: late.signal })])
  } finally {
    late.abort()
  }
}

type Counts = ReadonlyMap<string, number>

async function countsOf(db: Db, query: ReturnType<typeof sql>): Promise<Counts> {
  const { rows } = await (query as ReturnType<typeof sql<{ name: string; n: number }>>).execute(db)
  return new Map(rows.map(({ name, n }) => [name, n]))
}

function compareCounts(what: string, sent: ReadonlyMap<string, boolean>, found: Counts): string[] {
  const lost = [...sent].filter(([name, isAcknowledged]) => isAcknowledged && !found.has(name))
  const repeated = [...found].filter(([, n]) => n > 1)
  return [...lost.map(([name]) => `${what} ${name} is lost`), ...repeated.map(([name, n]) => `${what} ${name} is there ${n} times`)]
}

async function missingItems(db: Db, items: ReadonlySet<string>): Promise<string[]> {
  if (items.size === 0) return []
  const rows = await db
    .selectFrom('item')
    .select('id')
    .where('id', 'in', [...items])
    .where('deleted_at', 'is', null)
    .execute()
  const found = new Set(rows.map(({ id }) => id))
  return [...items].filter((id) => !found.has(id)).map((id) => `item ${id} is lost`)
}
