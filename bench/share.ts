/** Viewers of one share against everybody else: p95 of unrelated operations alone, with 200 viewers, and with guessers beside them. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openFileStore } from '#adapters/storage/files.ts'
import { systemClock } from '#core/clock.ts'
import { openDatabase } from '#db/open.ts'
import { secretOf } from '#model/platform/secret.ts'
import { createOwner, ok } from '../test/support/client.ts'
import { scene, tileAt } from '../test/support/scene.ts'
import { embeddedUrl, openLab } from '../test/support/service.ts'
import { storeFile } from '../test/support/stored-file.ts'
import { percentile } from './lib/scenes.ts'
import { fixedSecret } from '#adapters/storage/signature.ts'

const { values } = parseArgs({
  options: {
    viewers: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '60' },
    blocks: { type: 'string', default: '2' },
    guesses: { type: 'string', default: '5' },
    work: { type: 'boolean', default: false },
  },
})
const VIEWERS = Number(values.viewers)
/** Of watching in all; cut into blocks that take turns with quiet ones, so that what else the machine does hits both. */
const SECONDS = Number(values.seconds)
const BLOCKS = Number(values.blocks)
const GUESSES_PER_SECOND = Number(values.guesses)
const UNRELATED_PER_SECOND = 20
const MAX_RATIO = 2
const PASSWORD = 'coral and sand'
const ZOOM = 13

interface Answer {
  status: number
  body: Buffer
}

/** Each visitor comes from an address of its own, as in life: limits by address are not what is measured. */
function client(localAddress?: string) {
  // Browsers open six; somebody at work must never wait for a socket.
  const agent = new http.Agent({ keepAlive: true, ...(localAddress ? { maxSockets: 6 } : {}) })
  return async (method: string, url: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> => {
    const request = http.request(url, {
      method,
      agent,
      ...(localAddress ? { localAddress } : {}),
      headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
    })
    request.end(body ? JSON.stringify(body) : undefined)
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    return { status: response.statusCode!, body: Buffer.concat(chunks) }
  }
}

const addressOf = (index: number) => `127.1.${Math.floor(index / 200)}.${(index % 200) + 1}`

interface Tally {
  tiles: number
  latenciesMs: number[]
  refused: Record<number, number>
}

interface Site {
  baseUrl: string
  token: string
}

/** Takes the TileJSON with the link's password, then pans: four tiles about every four seconds, one in four by token and password. */
async function view({ baseUrl, token }: Site, index: number, tally: Tally, isOver: () => boolean): Promise<void> {
  const ask = client(addressOf(index))
  const note = async (call: Promise<Answer>): Promise<Answer> => {
    const began = performance.now()
    const answer = await call
    if (answer.status === 200) tally.latenciesMs.push(performance.now() - began)
    else tally.refused[answer.status] = (tally.refused[answer.status] ?? 0) + 1
    return answer
  }
  await sleep(Math.random() * 4_000) // Nobody presses the button at the same moment as 199 others.
  // As map clients open a link: ten a minute may ask to be let in by `share.link.validate`, which this is not about.
  const opened = await note(ask('POST', `${baseUrl}/v1/op/share.tilejson`, { token, password: PASSWORD }))
  if (opened.status !== 200) return
  const {
    tiles: [template],
  } = JSON.parse(opened.body.toString()) as { tiles: [string] }
  const first = tileAt(151.02, -33.02, ZOOM)
  while (!isOver()) {
    const profile = Math.random() < 0.5 ? 'rgb' : 'ndvi'
    await Promise.all(
      Array.from({ length: 4 }, async (_, part) => {
        const place = { z: ZOOM, x: first.x + Math.floor(Math.random() * 6), y: first.y + Math.floor(Math.random() * 4) }
        const address = template.replace('{z}', String(place.z)).replace('{x}', String(place.x)).replace('{y}', String(place.y))
        await note(
          part === 0
            ? ask('POST', `${baseUrl}/v1/op/share.tile.render`, { token, password: PASSWORD, ...place, format: 'webp', profile })
            : ask('GET', `${address}&profile=${profile}`),
        )
        tally.tiles++
      }),
    )
    for (let left = 3_000 + Math.random() * 2_000; left > 0 && !isOver(); left -= 250) await sleep(250)
  }
}

/** Unknown tokens, each another one: every guess costs a comparison. */
async function guess(baseUrl: string, isOver: () => boolean): Promise<void> {
  for (let index = 0; !isOver(); index++) {
    void client(addressOf(10_000 + index))('POST', `${baseUrl}/v1/op/share.link.validate`, {
      token: `shr_${Math.random()}`,
      password: 'a guess',
    }).catch(() => {})
    await sleep(1_000 / GUESSES_PER_SECOND)
  }
}

interface Task {
  baseUrl: string
  key: string
  projectId: string
  forMs: number
}

/** In a process of its own: a crowd that this one plays must not be what makes the measured calls late. */
async function workApart(task: Task): Promise<number[]> {
  const child = fork(import.meta.filename, ['--work'])
  child.send(task)
  const [latencies] = (await once(child, 'message')) as [number[]]
  return latencies
}

/** Somebody at work, at a steady pace, whatever the answers take. */
async function work({ baseUrl, key, projectId, forMs }: Task): Promise<number[]> {
  const ask = client()
  const latencies: number[] = []
  const calls: Promise<void>[] = []
  const end = performance.now() + forMs
  for (let index = 0; performance.now() < end; index++) {
    const [operation, input] =
      index % 2 ? (['projects.get', { project_id: projectId }] as const) : (['items.list', { project_id: projectId }] as const)
    const began = performance.now()
    calls.push(
      ask('POST', `${baseUrl}/v1/op/${operation}`, input, { authorization: `Bearer ${key}` }).then(({ status, body }) => {
        if (status !== 200) throw new Error(`${operation} answered ${status}: ${body.toString()}`)
        latencies.push(performance.now() - began)
      }),
    )
    await sleep(1_000 / UNRELATED_PER_SECOND)
  }
  await Promise.all(calls)
  return latencies
}

async function prepare(baseUrl: string, dataDir: string) {
  const owner = await createOwner(baseUrl, 'bench@example.com')
  const { id: projectId } = await ok(baseUrl, owner.token, 'projects.create', { name: 'Bench' })
  const { key } = await ok(baseUrl, owner.token, 'api_keys.create', { name: 'bench', permissions: ['write'], rate_limit: 2_000_000_000 })
  const { id: itemId } = await ok(baseUrl, owner.token, 'items.create', { project_id: projectId, type: 'user_raster', name: 'Harbour' })
  const database = openDatabase(embeddedUrl(dataDir), { maxConnections: 2 })
  const storage = await openFileStore({
    root: `${dataDir}/objects`,
    publicUrl: () => baseUrl,
    secrets: fixedSecret(await secretOf(database.db, 'storage', new Date())),
    clock: systemClock,
  })
  await storeFile({ db: database.db, storage, clock: { now: () => new Date(), advance() {} } }, itemId, {
    bytes: await scene({ width: 3_000, height: 2_000, degrees: 0.0001 }),
    bandNames: ['blue', 'green', 'red', 'nir'],
  })
  await storage.close()
  await database.close()
  const { token } = await ok(baseUrl, key, 'share.link.create', {
    target_type: 'item',
    target_id: itemId,
    password: PASSWORD,
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  })
  return { projectId, key, token }
}

const TICKS_PER_SECOND = 100

/** Processor seconds that the service has used; its children and the database are apart. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

const rounded = (value: number) => value.toFixed(1)
const line = (name: string, latencies: readonly number[]) =>
  console.log(
    `  ${name.padEnd(34)}p50 ${rounded(percentile(latencies, 0.5)).padStart(6)} ms   p95 ` +
      `${rounded(percentile(latencies, 0.95)).padStart(6)} ms   of ${latencies.length}`,
  )

async function compare(): Promise<boolean> {
  const dataDir = lab.dataDir()
  const { baseUrl, pid } = await lab.start({ env: { DATA_DIR: dataDir, DEMO: '0', LOG_LEVEL: 'info' } })
  const { projectId, key, token } = await prepare(baseUrl, dataDir)
  const blockMs = (SECONDS * 1_000) / BLOCKS
  const quiet: number[] = []
  const crowded: number[] = []
  const guessed: number[] = []
  const tally: Tally = { tiles: 0, latenciesMs: [], refused: {} }
  let watchedSeconds = 0
  const during = async (kinds: { viewers: boolean; guessers: boolean }, into: number[], count: Tally) => {
    let over = false
    const isOver = () => over
    const others = [
      ...(kinds.viewers ? Array.from({ length: VIEWERS }, (_, index) => view({ baseUrl, token }, index, count, isOver)) : []),
      ...(kinds.guessers ? [guess(baseUrl, isOver)] : []),
    ]
    into.push(...(await workApart({ baseUrl, key, projectId, forMs: blockMs })))
    over = true
    await Promise.all(others)
  }
  await during({ viewers: true, guessers: false }, [], { tiles: 0, latenciesMs: [], refused: {} }) // Warms up.
  for (let block = 0; block < BLOCKS; block++) {
    await during({ viewers: false, guessers: false }, quiet, tally)
    const used = processorSeconds(pid)
    await during({ viewers: true, guessers: false }, crowded, tally)
    watchedSeconds += processorSeconds(pid) - used
  }
  const aside: Tally = { tiles: 0, latenciesMs: [], refused: {} }
  await during({ viewers: true, guessers: true }, guessed, aside)
  console.log(`${VIEWERS} viewers of one share for ${SECONDS} s in ${BLOCKS} blocks; ${UNRELATED_PER_SECOND} unrelated calls a second`)
  line('unrelated, nobody watching', quiet)
  line('unrelated, viewers watching', crowded)
  line(`… and ${GUESSES_PER_SECOND} guesses a second`, guessed)
  line('what the viewers saw', tally.latenciesMs)
  const ratio = percentile(crowded, 0.95) / percentile(quiet, 0.95)
  console.log(`  the service used ${rounded((watchedSeconds / SECONDS) * 100)}% of one processor while they watched`)
  console.log(
    `  ${rounded(tally.tiles / SECONDS)} tiles a second, refused: ${JSON.stringify(tally.refused)}; p95 of unrelated ` +
      `calls is ${ratio.toFixed(2)} times the quiet one (at most ${MAX_RATIO})`,
  )
  return ratio < MAX_RATIO && Object.keys(tally.refused).length === 0
}

const lab = openLab()

async function main(): Promise<number> {
  try {
    return (await compare()) ? 0 : 1
  } finally {
    await lab.close()
  }
}

if (values.work)
  process.once('message', (task: Task) => void work(task).then((latencies) => process.send!(latencies, () => process.exit(0))))
else process.exit(await main())
