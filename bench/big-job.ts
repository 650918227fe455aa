/**
 * A job over 20,000 × 20,000 pixels of four 16-bit bands, through the whole service: memory of each process, and how progress moves.
 *
 * A scene of that size is written, uploaded and worked on by jobs that people's clients ask for; every process that the service has
 * is looked at ten times a second, and the job's record twice. `npm run bench -- big-job [index] [cog_convert] [reproject]` runs those
 * that are named, or all; BIG_SIDE is the side in pixels.
 */
import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { writeCog } from '#raster/write/cog.ts'
import { openFileSink } from '#raster/write/sink.ts'
import { treeCpuMs } from './lib/cpu.ts'
import { call, createOwner, ok } from '../test/support/client.ts'
import { openLab } from '../test/support/service.ts'

const SIDE = Number(process.env['BIG_SIDE'] ?? 20_000)
const BANDS = ['blue', 'green', 'red', 'nir']
const LIMIT_MB = 600
const LIMIT_SILENCE_MS = 5_000
const MEMORY_EVERY_MS = 100
const RECORD_EVERY_MS = 500
const END_MS = 3_600_000
const [WEST, NORTH, DEGREES] = [10, 50, 1e-4] as const

const JOBS = [
  { job_type_id: 'index', input_params: { index_name: 'ndvi' } },
  { job_type_id: 'cog_convert', input_params: {} },
  { job_type_id: 'reproject', input_params: { epsg: 3857, resampling: 'bilinear' } },
].filter(({ job_type_id }) => process.argv.length < 3 || process.argv.includes(job_type_id))

/** Waves that differ from band to band, with a little noise: it compresses about as a scene does. */
async function writeScene(file: string): Promise<void> {
  const sink = await openFileSink(file)
  const bands = BANDS.map((_, band) => band)
  const wave = Float64Array.from({ length: SIDE }, (_, x) => Math.sin(x / 211))
  const spec = { width: SIDE, height: SIDE, dataType: 'uint16' as const, bandCount: BANDS.length, crs: crsFromEpsg(4326), nodata: 0 }
  const profile = {
    transform: [WEST, DEGREES, 0, NORTH, 0, -DEGREES] as const,
    bands: BANDS.map((name) => ({ name })),
    compression: 'zstd' as const,
  }
  const blocks = new Map<number, Uint16Array>()
  // Rows that were made once serve for all blocks of that height: filling a gigabyte anew is not what is measured here.
  const rowsOf = (rows: number) => {
    const data = new Uint16Array(SIDE * rows * BANDS.length)
    let noise = 1
    for (let row = 0, i = 0; row < rows; row++)
      for (let x = 0; x < SIDE; x++)
        for (let band = 0; band < BANDS.length; band++, i++) {
          noise = (Math.imul(noise, 1_664_525) + 1_013_904_223) >>> 0
          data[i] = 1_500 + band * 400 + 800 * wave[x]! * wave[row]! + (noise >>> 26)
        }
    blocks.set(rows, data)
    return data
  }
  await writeCog(sink, { ...spec, ...profile }, async (_y, rows) => {
    const data = blocks.get(rows) ?? rowsOf(rows)
    const [starts, stride, mask] = [bands, BANDS.length, null]
    return { width: SIDE, height: rows, bands, data: bands.map(() => data), starts, stride, mask, byteLength: data.byteLength }
  })
  await sink.close()
}

/** The largest that a process of the service or one of its children has been, by its name. */
function watchMemory(root: number) {
  const most = new Map<string, number>()
  const sample = () => {
    for (const pid of family(root)) {
      try {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8')
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        const name = pid === root ? 'service' : command.includes('child.ts') ? `raster child ${pid}` : `other ${pid}`
        const mb = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024
        if (!command.includes('postgres')) most.set(name, Math.max(most.get(name) ?? 0, mb))
      } catch {
        // It has ended since.
      }
    }
  }
  const timer = setInterval(sample, MEMORY_EVERY_MS)
  return { most, stop: () => clearInterval(timer) }
}

function family(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const pid of readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
      children.set(parent, [...(children.get(parent) ?? []), pid])
    } catch {
      // It has ended since.
    }
  }
  const all = [root]
  for (const pid of all) all.push(...(children.get(pid) ?? []))
  return all
}

const lab = openLab()
try {
  const dataDir = lab.dataDir()
  const file = path.join(dataDir, 'big.tif')
  await writeScene(file)
  const { size } = statSync(file)
  console.log(`${SIDE} × ${SIDE} pixels, ${BANDS.length} bands of uint16: a file of ${(size / 2 ** 20).toFixed(0)} MB`)
  const service = await lab.start({ env: { DATA_DIR: path.join(dataDir, 'service'), DEMO: '0', SANDBOX: '0', LOG_LEVEL: 'error' } })
  const { baseUrl } = service
  const { token } = await createOwner(baseUrl, 'owner@example.com')
  await ok(baseUrl, token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
  await ok(baseUrl, token, 'billing.topup', { aud_cents: 5_000_000 })
  const { key } = await ok(baseUrl, token, 'api_keys.create', {
    name: 'big',
    permissions: ['read', 'write', 'process'],
    rate_limit: 1_000_000,
  })
  const { id: project_id } = await ok(baseUrl, token, 'projects.create', { name: 'Big' })
  const { id: upload_id } = await ok(baseUrl, key, 'uploads.initiate', { project_id, file_count: 1, total_bytes: size })
  const { upload_url } = await ok(baseUrl, key, 'uploads.signed_url', { upload_id, file_name: 'big.tif', content_type: 'image/tiff' })
  const headers = { 'content-type': 'image/tiff', 'content-length': String(size) }
  const put = await fetch(upload_url, { method: 'PUT', headers, body: createReadStream(file) as never, duplex: 'half' } as never)
  if (!put.ok) throw new Error(`the store answered ${put.status}: ${await put.text()}`)
  const { item_ids } = await ok(baseUrl, key, 'uploads.complete', { upload_id })
  for (const { job_type_id, input_params } of JOBS) {
    const memory = watchMemory(service.pid)
    const began = performance.now()
    const wanted = { project_id, job_type_id, input_params: { item_id: item_ids[0], ...input_params } }
    const { status, body, text } = await call(baseUrl, key, 'processing.create_and_dispatch', wanted)
    if (status !== 200) throw new Error(text)
    let [last, movedAt, longest, stoodAt, moves] = ['', began, 0, '', 0]
    let [cpuAt, mostCpu] = [treeCpuMs(service.pid), 0]
    for (;;) {
      const { job } = await ok(baseUrl, key, 'processing.job.get', { job_id: body.job.id })
      const [now, at] = [`${job.stage} ${job.progress}`, performance.now()]
      if (at - movedAt > longest) [longest, stoodAt] = [at - movedAt, last]
      const cpu = treeCpuMs(service.pid)
      mostCpu = Math.max(mostCpu, cpu - cpuAt)
      if (now !== last) [last, movedAt, cpuAt, moves] = [now, at, cpu, moves + 1]
      if (job.status === 'completed') break
      if (job.status === 'failed' || at - began > END_MS) throw new Error(`${job_type_id} ended ${job.status}: ${job.error}`)
      await sleep(RECORD_EVERY_MS)
    }
    memory.stop()
    const most = [...memory.most].filter(([, mb]) => mb > 0).toSorted((a, b) => b[1] - a[1])
    const isWithin = most.every(([, mb]) => mb < LIMIT_MB) && longest < LIMIT_SILENCE_MS
    console.log(
      `${job_type_id}: ${((performance.now() - began) / 1_000).toFixed(0)} s; progress was seen to move ${moves} times, ` +
        `after ${(longest / 1_000).toFixed(1)} s at the most (at '${stoodAt}') and ${(mostCpu / 1_000).toFixed(1)} s of CPU; ` +
        `${most.map(([name, mb]) => `${name} ${mb.toFixed(0)} MB`).join(', ')}` +
        `${isWithin ? '' : ` (more than ${LIMIT_MB} MB or ${LIMIT_SILENCE_MS / 1_000} s)`}`,
    )
  }
} finally {
  await lab.close()
}
