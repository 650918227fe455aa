/**
 * A large plain GeoTIFF from PUT to tile: a striped file of 2 GB is made while it is sent, uploaded to the service as real
 * processes, converted in the background and shown. Prints the progress that a caller sees and the resident memory of
 * every process, and fails where one passes 600 MB. The first argument is the size in megabytes, 2048 by default.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createOwner, ok, call } from '../test/support/client.ts'
import { tileAt } from '../test/support/scene.ts'
import { openLab, postmasterOf } from '../test/support/service.ts'
import { stripedStream } from '../test/support/tiff.ts'

const MIB = 1024 * 1024
const MAX_RSS_MB = 600
const SAMPLE_MS = 250
const [sizeMb = 2048] = process.argv.slice(2).map(Number)
const WIDTH = 16_384
const BANDS = 4

const lab = openLab()
const peaks = new Map<string, number>()
try {
  const dataDir = lab.dataDir()
  const service = await lab.start({ env: { DATA_DIR: dataDir, DEMO: '0', STORE_PORT: '0' } })
  const watch = watchMemory(service.pid, postmasterOf(dataDir)!.pid)
  const { baseUrl } = service
  const owner = await createOwner(baseUrl, 'bench@example.com')
  const { key } = await ok(baseUrl, owner.token, 'api_keys.create', { name: 'bench', permissions: ['write'], rate_limit: 1_000_000 })
  const { id: projectId } = await ok(baseUrl, owner.token, 'projects.create', { name: 'Bench' })

  const height = Math.floor((sizeMb * MIB) / (WIDTH * BANDS * 2))
  const { length, chunks } = stripedStream({ width: WIDTH, height, bandCount: BANDS })
  const { id } = await ok(baseUrl, key, 'uploads.initiate', { project_id: projectId, total_bytes: length })
  const { upload_url: url } = await ok(baseUrl, key, 'uploads.signed_url', {
    upload_id: id,
    file_name: 'large.tif',
    content_type: 'image/tiff',
  })
  console.log(`${WIDTH} x ${height} pixels, ${BANDS} bands of uint16, ${(length / MIB).toFixed(0)} MB in strips`)

  const putMs = await timed(() => put(url, length, chunks))
  console.log(`PUT        ${(putMs / 1000).toFixed(1)} s, ${(length / MIB / (putMs / 1000)).toFixed(0)} MB/s`)
  let itemId = ''
  const completeMs = await timed(async () => {
    itemId = (await ok(baseUrl, key, 'uploads.complete', { upload_id: id })).item_ids[0]
  })
  console.log(`complete   ${completeMs.toFixed(0)} ms, item ${itemId}`)
  const tile = { item_id: itemId, ...tileAt(151.5, -33.5, 9), format: 'png' }
  console.log(`a tile now ${(await call(baseUrl, key, 'items.tile.render', tile)).body?.detail}`)

  const convertMs = await timed(async () => {
    let told = ''
    for (;;) {
      const {
        files: [file],
      } = await ok(baseUrl, key, 'uploads.progress', { upload_id: id })
      const line = `${file.state} ${file.step} ${Math.floor((file.fraction ?? 0) * 20) * 5}%`
      if (line !== told) console.log(`progress   ${line.padEnd(26)} ${watch.now()}`)
      told = line
      if (file.state !== 'converting') {
        if (file.state !== 'ready') throw new Error(file.error)
        console.log(`COG        ${(file.size_bytes / MIB).toFixed(0)} MB`)
        return
      }
      await sleep(SAMPLE_MS)
    }
  })
  console.log(`conversion ${(convertMs / 1000).toFixed(1)} s, ${(length / MIB / (convertMs / 1000)).toFixed(0)} MB/s`)
  const tileMs = await timed(async () => {
    const { status, text } = await call(baseUrl, key, 'items.tile.render', tile)
    if (status !== 200) throw new Error(`the tile answered ${status}: ${text}`)
  })
  console.log(`first tile ${tileMs.toFixed(0)} ms`)
  watch.stop()
  console.log('\npeak resident memory of each process, MB')
  const [own, databases] = [
    [...peaks].filter(([name]) => !name.startsWith('postgres')),
    [...peaks].filter(([name]) => name.startsWith('postgres')),
  ]
  for (const [name, peak] of own.toSorted((a, b) => b[1] - a[1])) console.log(`  ${name.padEnd(28)}${peak.toFixed(0)}`)
  console.log(`  ${`largest of ${databases.length} of PostgreSQL`.padEnd(28)}${Math.max(...databases.map(([, peak]) => peak)).toFixed(0)}`)
  process.exitCode = [...peaks.values()].some((peak) => peak > MAX_RSS_MB) ? 1 : 0
} finally {
  await lab.close()
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

async function put(url: string, length: number, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const sending = request(url, { method: 'PUT', headers: { 'content-type': 'image/tiff', 'content-length': length } })
  const answered = new Promise<number>((resolve, reject) => {
    sending
      .once('response', (response) => {
        response.resume()
        resolve(response.statusCode!)
      })
      .once('error', reject)
  })
  await pipeline(Readable.from(chunks), sending)
  const status = await answered
  if (status !== 200) throw new Error(`the store answered ${status}`)
}

/** The service, its raster children, PostgreSQL and its backends, by their parents. */
function watchMemory(servicePid: number, postmasterPid: number): { now(): string; stop(): void } {
  let last: [string, number][] = []
  const sample = (): void => {
    const processes = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        try {
          const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
          return [
            {
              pid: Number(name),
              parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]),
              rssMb: (Number(readFileSync(`/proc/${name}/statm`, 'utf8').split(' ')[1]) * 4096) / MIB,
            },
          ]
        } catch {
          return []
        }
      })
    const shown: [string, number][] = processes.flatMap(({ pid, parent, rssMb }) =>
      pid === servicePid
        ? [[`service ${pid}`, rssMb]]
        : pid === postmasterPid || parent === postmasterPid
          ? [[`postgres ${pid}`, rssMb]]
          : parent === servicePid
            ? [[`raster child ${pid}`, rssMb]]
            : [],
    )
    for (const [name, rssMb] of shown) peaks.set(name, Math.max(peaks.get(name) ?? 0, rssMb))
    last = shown
  }
  const timer = setInterval(sample, SAMPLE_MS)
  return {
    now: () =>
      last
        .filter(([name]) => !name.startsWith('postgres'))
        .map(([name, rssMb]) => `${name.split(' ').slice(0, -1).join(' ')} ${rssMb.toFixed(0)} MB`)
        .join(', '),
    stop: () => clearInterval(timer),
  }
}
