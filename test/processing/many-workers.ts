/** A service with several worker processes and one large mosaic, for tests and benches of jobs in parts. */
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import { treeCpuMs } from '../../bench/lib/cpu.ts'
import { call, createOwner, ok } from '../support/client.ts'
import { scene } from '../support/scene.ts'
import { openLab, until, type Service } from '../support/service.ts'
import { world, type World } from '../support/world.ts'

const END_MS = 2_400_000
const [WEST, NORTH, DEGREES] = [151, -20, 0.0001] as const

interface LabOptions {
  /** An empty database. */
  readonly databaseUrl: string
  readonly scenes: number
  /** Of each scene, in pixels. */
  readonly side: number
  /** Scenes of the same place; 1 by default, and then scenes in two columns overlap by half their height. */
  readonly dates?: number
}

interface RunOptions {
  readonly workers: number
  /** 0: the job is not divided. */
  readonly partMegapixels: number
  /** The same job so many times at once; 1 by default. */
  readonly jobs?: number
  /** Workers to kill while they compute parts: first the one that runs the job, then others. */
  readonly kills?: number
}

export interface Outcome {
  /** SHA-256 of each file. */
  readonly files: Readonly<Record<string, string>>
  readonly scenes: unknown
  readonly capturedCredits: number
  readonly attempts: number
  /** CPU time of each worker with its children, those killed too. */
  readonly cpuMs: readonly number[]
  readonly parts: number
  /** Indices of the workers that ran the job, one after another; with one attempt, one. */
  readonly runners: readonly number[]
}

/** Records which worker claimed what: its connections carry its name. */
async function recordClaims(db: World['db']): Promise<void> {
  await sql`
    create table lab_claim (run_id uuid primary key, at timestamptz not null default clock_timestamp(), worker text not null);
    create function lab_record_claim() returns trigger language plpgsql as $$ begin
      insert into lab_claim (run_id, worker) values (new.run_id, current_setting('application_name')) on conflict do nothing;
      return null;
    end $$;
    create trigger lab_claim after update of run_id on processing_job for each row when (new.run_id is not null)
      execute function lab_record_claim();
    create trigger lab_claim after update of run_id on job_part for each row when (new.run_id is not null)
      execute function lab_record_claim();
  `.execute(db)
}

/** Scenes in one or two columns, so that the mosaic is much higher than wide: parts are rows. */
export async function openMosaicLab(t: Pick<TestContext, 'after'>, { databaseUrl, scenes, side, dates = 1 }: LabOptions) {
  const lab = openLab()
  t.after(() => lab.close())
  const dataDir = lab.dataDir()
  const env = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    DEMO: '0',
    SANDBOX: '0',
    LOG_LEVEL: 'error',
    RASTER_PROCESSES: '1',
    // As in the image and the systemd units: raster processes do not compile their modules again.
    NODE_COMPILE_CACHE: path.join(dataDir, 'compiled'),
  }
  const { baseUrl } = await lab.start({ env: { ...env, ROLE: 'api' } })
  const w = await world(t as TestContext, {
    databaseUrl,
    store: { dataDir, secret: randomBytes(32) },
    startAt: new Date().toISOString(),
  })
  await recordClaims(w.db)
  const owner = await createOwner(baseUrl, 'owner@example.com')
  await w.ok(await w.serviceToken(), 'billing.credits.grant', {
    organization_id: owner.organizationId,
    credits: 5_000_000,
    reason: 'a test',
  })
  const { key } = await ok(baseUrl, owner.token, 'api_keys.create', {
    name: 'jobs',
    permissions: ['read', 'write', 'process'],
    rate_limit: 1_000_000,
  })
  const { id: project_id } = await ok(baseUrl, owner.token, 'projects.create', { name: 'Mosaics' })
  const items: string[] = []
  for (let n = 0; n < scenes; n++) {
    const [column, row] = dates === 1 ? [0.9 * (n % 2), 0.5 * (n >> 1)] : [0, 0.9 * Math.floor(n / dates)]
    const [west, north] = [WEST + column * side * DEGREES, NORTH - row * side * DEGREES]
    // Waves with noise: no two scenes are alike, and they compress about as imagery does.
    const value = (band: number, x: number, y: number) =>
      1_000 +
      300 * band +
      Math.round(400 * Math.sin((x + n * 13) / 37) * Math.cos(y / 53)) +
      ((Math.imul(x * 31 + y * 17 + n, 2_654_435_761) >>> 0) % 64)
    const bytes = await scene({ width: side, height: side, west, north, degrees: DEGREES, value })
    const { body } = await w.upload(key, project_id, { 'scene.tif': bytes })
    items.push(body.item_ids[0] as string)
  }

  const run = async ({ workers: count, partMegapixels, jobs = 1, kills = 0 }: RunOptions): Promise<Outcome> => {
    const settings = { ...env, ROLE: 'worker', JOB_PART_MEGAPIXELS: String(partMegapixels) }
    const nameOf = (n: number) => `worker ${n}`
    const named = (n: number): string => {
      const url = new URL(databaseUrl)
      url.searchParams.set('application_name', nameOf(n))
      return url.href
    }
    const workers: Service[] = await Promise.all(
      Array.from({ length: count }, (_, n) => lab.start({ env: { ...settings, DATABASE_URL: named(n) } })),
    )
    const began = workers.map(({ pid }) => treeCpuMs(pid))
    const cpuMs = workers.map(() => 0)
    const input_params = { item_ids: items, method: 'median' }
    const ids: string[] = []
    for (let n = 0; n < jobs; n++) {
      const { status, body, text } = await call(baseUrl, key, 'processing.create_and_dispatch', {
        project_id,
        job_type_id: 'mosaic',
        input_params,
      })
      if (status !== 200) throw new Error(text)
      ids.push(body.job.id as string)
    }
    const id = ids[0]!
    const seen = { parts: 0 }
    const partsOf = async (state: string): Promise<number> => {
      const { rows } = await sql<{ n: number; total: number }>`
        select count(*) filter (where state = ${state})::int as n, count(*)::int as total from job_part where job_id = ${id}
      `.execute(w.db)
      seen.parts = Math.max(seen.parts, rows[0]!.total)
      return rows[0]!.n
    }
    const workersOf = async (table: 'processing_job' | 'job_part'): Promise<number[]> => {
      const column = table === 'job_part' ? 'job_id' : 'id'
      const { rows } = await sql<{ worker: string }>`
        select c.worker from lab_claim c join ${sql.table(table)} t using (run_id)
        where t.${sql.ref(column)} = ${id} and ${table === 'job_part' ? sql`t.state = 'running'` : sql`true`} order by c.at
      `.execute(w.db)
      return rows.map(({ worker }) => workers.findIndex((_, n) => nameOf(n) === worker))
    }
    const killed = new Set<number>()
    const runners: number[] = []
    /** The worker to kill next, if it is at work on a part: the first time the one that also runs the job. */
    const nextVictim = async (): Promise<number | undefined> => {
      const [runner] = await workersOf('processing_job')
      const computing = (await workersOf('job_part')).filter((n) => !killed.has(n))
      return killed.size === 0 ? computing.find((n) => n === runner) : computing.find((n) => n !== runner)
    }
    for (let n = 0; n < kills; n++) {
      let victim: number | undefined
      await until(
        `${n + 1} parts to be done and the next worker to kill to be at work`,
        async () => (await partsOf('done')) > n && (victim = await nextVictim()) !== undefined,
        END_MS,
      )
      if (n === 0) runners.push(victim!)
      cpuMs[victim!] = treeCpuMs(workers[victim!]!.pid) - began[victim!]!
      await workers[victim!]!.kill('SIGKILL')
      killed.add(victim!)
    }
    const recordOf = async (job_id: string) => (await ok(baseUrl, key, 'processing.job.get', { job_id })).job
    for (const each of ids)
      await until(
        'the job to end',
        async () => {
          await partsOf('done')
          return (await recordOf(each)).completed_at !== null
        },
        END_MS,
      )
    const records = await Promise.all(ids.map(recordOf))
    for (const { status, error } of records) if (status !== 'completed') throw new Error(`the job ${status}: ${error}`)
    const job = records[0]!
    for (const [n, worker] of workers.entries()) {
      if (killed.has(n)) continue
      cpuMs[n] = treeCpuMs(worker.pid) - began[n]!
      await worker.kill('SIGTERM')
    }
    runners.push(...(await workersOf('processing_job')))
    const files = await w.db
      .selectFrom('asset')
      .innerJoin('item', 'item.seq', 'asset.item_seq')
      .select(['asset.key', 'asset.sha256'])
      .where('item.id', 'in', job.output_item_ids)
      .where('asset.media_type', 'like', 'image/tiff%')
      .orderBy('asset.key')
      .execute()
    const { attempts } = await w.db.selectFrom('processing_job').select('attempts').where('id', '=', id).executeTakeFirstOrThrow()
    return {
      files: Object.fromEntries(files.map(({ key: name, sha256 }) => [name, sha256!.toString('hex')])),
      scenes: job.output_artifacts.scenes,
      capturedCredits: job.captured_credits,
      attempts,
      cpuMs,
      parts: seen.parts,
      runners,
    }
  }
  return { w, run }
}
