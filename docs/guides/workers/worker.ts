/**
 * A complete worker from outside: asks for jobs, fetches their inputs, runs a command on each, puts what it made and registers it.
 *
 *   BASE=http://127.0.0.1:8080 WORKER_SECRET=wrk_… COMMAND='gdal_translate -q -of COG {input} {output}' node worker.ts
 *
 * ONCE=1 ends it when nothing waits.
 */
import { spawn } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

const { BASE = 'http://127.0.0.1:8080', WORKER_SECRET = '', COMMAND = 'gdal_translate -q -of COG {input} {output}', ONCE } = process.env
const { fetch } = globalThis
const REPORT_EVERY_MS = Number(process.env['REPORT_EVERY_SECONDS'] ?? 30) * 1_000

interface Claimed {
  job: { id: string; job_type: string; input_params: Record<string, unknown> }
  token: string
  inputs: { item_id: string | null; asset_key: string; url: string }[]
  outputs_url_template: string
}

async function send(url: string, token: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`)
  return answer
}

class Cancelled extends Error {}

/** Every report is answered with the job as it is: one that was cancelled needs no more work. */
async function register(claimed: Claimed, report: object): Promise<void> {
  const answer = await send(`${BASE}/v1/op/processing.job.register`, claimed.token, { job_id: claimed.job.id, ...report })
  const { job } = (await answer.json()) as { job: { status: string } }
  if (job.status === 'cancelled') throw new Cancelled('The job was cancelled')
}

async function work(claimed: Claimed, folder: string): Promise<void> {
  const [input, output] = [path.join(folder, 'input.tif'), path.join(folder, 'output.tif')]
  await register(claimed, { status: 'running', progress: 5, stage: 'fetching' })
  const fetched = await fetch(claimed.inputs[0]!.url)
  if (!fetched.ok || !fetched.body) throw new Error(`the input answered ${fetched.status}`)
  await pipeline(Readable.fromWeb(fetched.body as never), createWriteStream(input))

  await register(claimed, { status: 'running', progress: 30, stage: 'computing' })
  const stopping = new AbortController()
  const report = () =>
    register(claimed, { status: 'running', stage: 'computing' }).catch((error: unknown) => {
      if (error instanceof Cancelled) stopping.abort(error)
    })
  const alive = setInterval(() => void report(), REPORT_EVERY_MS)
  try {
    await run(
      COMMAND.split(' ').map((word) => word.replace('{input}', input).replace('{output}', output)),
      stopping.signal,
    )
  } finally {
    clearInterval(alive)
  }

  await register(claimed, { status: 'running', progress: 90, stage: 'storing' })
  const asked = await send(claimed.outputs_url_template.replace('{name}', 'output.tif'), claimed.token, { content_type: 'image/tiff' })
  const { url, content_type } = (await asked.json()) as { url: string; content_type: string }
  const headers = { 'content-type': content_type, 'content-length': String((await stat(output)).size) }
  const put = await fetch(url, {
    method: 'PUT',
    headers,
    body: Readable.toWeb(createReadStream(output)) as never,
    duplex: 'half',
  } as RequestInit)
  if (!put.ok) throw new Error(`the store answered ${put.status}`)
  await register(claimed, { status: 'completed', outputs: [{ name: 'output.tif', key: 'data', title: 'Converted' }] })
}

function run([command, ...args]: string[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command!, args, { stdio: ['ignore', 'inherit', 'inherit'], signal })
    child
      .once('error', (error) => reject(signal.aborted ? signal.reason : error))
      .once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${command} ended with ${code}`))))
  })
}

for (;;) {
  const answer = await send(`${BASE}/workers/claim`, WORKER_SECRET, { wait_seconds: ONCE ? 0 : 25 })
  if (answer.status === 204) {
    if (ONCE) break
    continue
  }
  const claimed = (await answer.json()) as Claimed
  const folder = await mkdtemp(path.join(os.tmpdir(), 'worker-'))
  try {
    await work(claimed, folder)
    console.log(`${claimed.job.id} completed`)
  } catch (error) {
    if (error instanceof Cancelled) {
      console.log(`${claimed.job.id} was cancelled`)
      continue
    }
    console.error(`${claimed.job.id} failed:`, (error as Error).message)
    await register(claimed, { status: 'failed', error: (error as Error).message.slice(0, 1000) })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
