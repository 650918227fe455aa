/** What a thousand listeners of `GET /v1/events` cost one process in memory and at rest, and how soon all of them hear an event. */
import { readFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openLab } from '../test/support/service.ts'

const { values } = parseArgs({ options: { listeners: { type: 'string', default: '1000' } } })
const LISTENERS = Number(values.listeners)
/** Several organizations and addresses, because each has a limit of its own. */
const ORGANIZATIONS = Math.ceil(LISTENERS / 200)
const REST_SECONDS = 10
const EVENTS = 20
const TARGET_MB = 150

const lab = openLab()
try {
  const service = await lab.start({ env: { DATA_DIR: lab.dataDir(), DEMO: '0', PAYMENTS: 'none', SANDBOX: '0', ROLE: 'api' } })
  const { baseUrl, pid } = service
  const members: { token: string; projectId: string }[] = []
  for (let n = 0; n < ORGANIZATIONS; n++) members.push(await createOwner(baseUrl, n))
  await sleep(REST_SECONDS * 1_000)
  const before = memoryMb(pid)

  let heard = 0
  const streams: IncomingMessage[] = []
  for (let n = 0; n < LISTENERS; n += 50)
    streams.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(50, LISTENERS - n) }, (_, k) => open(baseUrl, members[(n + k) % ORGANIZATIONS]!.token, n + k)),
      )),
    )
  for (const stream of streams) count(stream, () => heard++)
  const cpu = cpuSeconds(pid)
  await sleep(REST_SECONDS * 1_000)
  const atRest = ((cpuSeconds(pid) - cpu) / REST_SECONDS) * 100
  const resting = memoryMb(pid)

  const waits: number[] = []
  for (let n = 0; n < EVENTS; n++) {
    const wanted = heard + LISTENERS
    const startedMs = performance.now()
    for (const { token, projectId } of members)
      await post(`${baseUrl}/v1/op/collections.create`, { project_id: projectId, name: `${n}` }, token)
    while (heard < wanted && performance.now() - startedMs < 10_000) await sleep(1)
    waits.push(performance.now() - startedMs)
  }
  const sorted = waits.toSorted((a, b) => a - b)
  console.log(`${streams.length} listeners of ${ORGANIZATIONS} organizations heard ${heard} of ${LISTENERS * EVENTS} events`)
  console.log(`memory: ${before} MB before, ${resting} MB with all listening, ${memoryMb(pid)} MB after the events`)
  console.log(`that is ${memoryMb(pid) - before} MB more; the target is under ${TARGET_MB}`)
  console.log(`CPU at rest: ${atRest.toFixed(1)}% of a core`)
  const [median, most] = [sorted[EVENTS >> 1]!.toFixed(0), sorted.at(-1)!.toFixed(0)]
  console.log(`an event of each organization was with all after ${median} ms (median), ${most} ms at most`)
  for (const stream of streams) stream.destroy()
} finally {
  await lab.close()
}

async function post(url: string, body: object, token?: string) {
  const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  // oxlint-disable-next-line typescript/no-explicit-any
  return (await answer.json()) as any
}

async function createOwner(baseUrl: string, n: number): Promise<{ token: string; projectId: string }> {
  const account = { email: `bench-${n}@example.com`, password: 'correct horse battery' }
  const { access_token } = await post(`${baseUrl}/auth/sign-up`, { ...account, name: 'Bench' })
  await post(`${baseUrl}/v1/op/organizations.create`, { name: `Bench ${n}` }, access_token)
  const { access_token: token } = await post(`${baseUrl}/auth/sign-in`, account)
  const { id } = await post(`${baseUrl}/v1/op/projects.create`, { name: 'Bench' }, token)
  return { token, projectId: id }
}

function open(baseUrl: string, token: string, n: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { headers: { authorization: `Bearer ${token}` }, agent: false, localAddress: `127.0.0.${2 + (n % 4)}` }
    request(`${baseUrl}/v1/events`, options, (response) => {
      if (response.statusCode === 200) resolve(response)
      else reject(new Error(`a stream was answered ${response.statusCode}`))
    })
      .on('error', reject)
      .end()
  })
}

/** A frame ends with an empty line, wherever the pieces of the stream were cut; what has no id is a beat. */
function count(stream: IncomingMessage, onEvent: () => void): void {
  let rest = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    const frames = (rest + text).split('\n\n')
    rest = frames.pop()!
    for (const frame of frames) if (frame.startsWith('id: ')) onEvent()
  })
}

function memoryMb(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024)
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
