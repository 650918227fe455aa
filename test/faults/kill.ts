/** Kills the service over and over while others write, and looks after each restart whether anything was lost or torn. */
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '#db/open.ts'
import type { Db } from '#db/tables.ts'
import { sql } from 'kysely'
import { call, createOwner, ok, type Owner } from '../support/client.ts'
import { seeded, type Random } from '../support/random.ts'
import { embeddedUrl, killPostmaster, MAIN, MAIN_WITH_TEST_OPERATIONS, until, type Lab, type Service } from '../support/service.ts'
import { keyActor, projectActor, sessionActor, spendLimitActor, type Acknowledged, type Actor, type Stage } from './actors.ts'
import { idempotentActor } from './idempotent.ts'
import { violations } from './invariants.ts'
import { createEffects } from './operations.ts'

/**
 * service: kill -9 of the service. both: of the service and the embedded PostgreSQL. starting: of the service, and again
 * while it starts. postmaster: of the embedded PostgreSQL alone, which the service must start again by itself.
 * disconnect: every connection is cut by the server; the service goes on.
 */
type Fault = 'service' | 'both' | 'starting' | 'postmaster' | 'disconnect'

const FAULTS = {
  embedded: ['service', 'service', 'service', 'service', 'both', 'starting', 'postmaster', 'disconnect'],
  server: ['service', 'service', 'service', 'service', 'service', 'starting', 'disconnect'],
} as const satisfies Record<string, readonly Fault[]>

/** A fault is injected after this many acknowledged writes and a moment more, in the midst of the next ones. */
const MAX_WRITES_BEFORE = 80
const MAX_MOMENT_MS = 40
const MAX_LOAD_MS = 5_000
const MAX_START_MS = 900
const PROJECT_ACTORS = 6
const KEY_ACTORS = 3

export interface CampaignOptions {
  seed: number
  /** Kills of the service; faults that leave it alive come on top. */
  kills: number
  /** Null: the embedded PostgreSQL. */
  databaseUrl: string | null
  /** Whether the demo is drawn meanwhile, which keeps a core busy; it is, unless it is left out. */
  demo?: boolean
  /** Faults to begin with, whatever chance says. */
  first?: readonly Fault[]
  onRound?: (line: string) => void
}

export interface CampaignResult {
  faults: Record<Fault, number>
  serviceKills: number
  acknowledged: number
  lost: string[]
  violations: string[]
  idempotencyKeys: number
  effects: number
  secondsPerRestart: number
}

export async function campaign(lab: Lab, options: CampaignOptions): Promise<CampaignResult> {
  const random = seeded(options.seed)
  const dataDir = lab.dataDir()
  const env = {
    DATA_DIR: dataDir,
    DEMO: options.demo === false ? '0' : '1',
    ...(options.databaseUrl ? { DATABASE_URL: options.databaseUrl } : {}),
  }
  const url = () => options.databaseUrl ?? embeddedUrl(dataDir)
  const result: CampaignResult = {
    faults: { service: 0, both: 0, starting: 0, postmaster: 0, disconnect: 0 },
    serviceKills: 0,
    acknowledged: 0,
    lost: [],
    violations: [],
    idempotencyKeys: 0,
    effects: 0,
    secondsPerRestart: 0,
  }

  let entry = MAIN_WITH_TEST_OPERATIONS
  let service = await lab.start({ env, entry })
  await withDatabase(url(), createEffects)
  const owner = await createOwner(service.baseUrl, `owner-${options.seed}@example.com`)
  const { key } = await ok(service.baseUrl, owner.token, 'api_keys.create', {
    name: 'for the actors',
    permissions: ['read', 'write'],
    rate_limit: 1_000_000,
  })
  const repeater = idempotentActor(`r${options.seed}`)
  const actors = actorsOf(owner, random)

  const kinds: readonly Fault[] = options.databaseUrl ? FAULTS.server : FAULTS.embedded
  let restartMs = 0
  for (let round = 1; result.serviceKills < options.kills; round++) {
    const fault = options.first?.[round - 1] ?? random.pick(kinds)
    const stage: Stage = { baseUrl: service.baseUrl, owner, key, acknowledged: [], contradictions: [] }
    const load = runActors(stage, entry === MAIN ? actors : [...actors, repeater])
    await strikingMoment(stage, random)
    await inject(fault, { service, dataDir, url: url() })
    await load.stop()
    result.faults[fault]++

    if (fault === 'postmaster' || fault === 'disconnect') {
      await until('an answer after the fault', () => answers(service, key))
    } else {
      result.serviceKills++
      if (fault === 'starting') await killWhileStarting(lab, env, random)
      const before = performance.now()
      entry = entry === MAIN ? MAIN_WITH_TEST_OPERATIONS : MAIN
      service = await lab.start({ env, entry })
      restartMs += performance.now() - before
      if (fault === 'service' && !options.databaseUrl && !service.output().includes('(found running)'))
        stage.contradictions.push('the orphaned PostgreSQL was not taken over')
    }
    stage.baseUrl = service.baseUrl
    if (entry !== MAIN) await repeater.replay(stage, false)
    const broken = await withDatabase(url(), async (db) => await inspect(db, [...actors, repeater], stage))
    result.acknowledged += stage.acknowledged.length
    result.lost.push(...broken.lost)
    result.violations.push(...broken.violations, ...stage.contradictions)
    options.onRound?.(
      `round ${round}: ${fault}, ${stage.acknowledged.length} acknowledged, lost ${broken.lost.length}, violations ` +
        `${broken.violations.length + stage.contradictions.length}`,
    )
  }
  result.secondsPerRestart = restartMs / 1000 / result.serviceKills

  await service.kill('SIGKILL')
  service = await lab.start({ env, entry: MAIN_WITH_TEST_OPERATIONS })
  const last: Stage = { baseUrl: service.baseUrl, owner, key, acknowledged: [], contradictions: [] }
  await repeater.replay(last, true)
  await withDatabase(url(), async (db) => {
    const broken = await inspect(db, [...actors, repeater], last)
    result.lost.push(...broken.lost)
    result.violations.push(...broken.violations, ...last.contradictions)
    const { tokens, effects } = await repeater.effects(db)
    if (tokens !== repeater.keys()) result.lost.push(`${repeater.keys()} keys, but effects of ${tokens}`)
    Object.assign(result, { idempotencyKeys: repeater.keys(), effects })
  })
  await service.kill('SIGTERM')
  return result
}

function actorsOf(owner: Owner, random: Random): Actor[] {
  return [
    ...Array.from({ length: PROJECT_ACTORS }, (_, index) => projectActor(`p${index}`, random)),
    ...Array.from({ length: KEY_ACTORS }, (_, index) => keyActor(`k${index}`)),
    spendLimitActor(owner),
    sessionActor('s'),
  ]
}

/** Lets all actors write at once until they are told to stop or the service goes away. */
function runActors(stage: Stage, actors: readonly Actor[]): { stop(): Promise<void> } {
  let stopped = false
  const running = actors.map(async (actor) => {
    while (!stopped && (await actor.step(stage)));
  })
  return {
    async stop() {
      stopped = true
      await Promise.all(running)
    },
  }
}

/** Chance decides when the fault is injected; no result depends on it. */
async function strikingMoment(stage: Stage, random: Random): Promise<void> {
  const writes = random.integer(1, MAX_WRITES_BEFORE)
  const momentMs = random.integer(0, MAX_MOMENT_MS)
  const deadline = Date.now() + MAX_LOAD_MS
  while (stage.acknowledged.length < writes && Date.now() < deadline) await sleep(1)
  await sleep(momentMs)
}

async function inject(fault: Fault, target: { service: Service; dataDir: string; url: string }): Promise<void> {
  if (fault === 'disconnect') {
    await withDatabase(target.url, async (db) => {
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
          and backend_type = 'client backend'`.execute(db)
    })
    return
  }
  if (fault === 'postmaster' || fault === 'both') await killPostmaster(target.dataDir)
  if (fault !== 'postmaster') await target.service.kill('SIGKILL')
}

async function killWhileStarting(lab: Lab, env: Record<string, string>, random: Random): Promise<void> {
  const starting = lab.spawn({ env })
  await sleep(random.integer(0, MAX_START_MS))
  await starting.kill('SIGKILL')
}

async function answers(service: Service, key: string): Promise<boolean> {
  const { status } = await call(service.baseUrl, key, 'organizations.get', {}).catch((error: unknown) => {
    throw new Error(`the service did not survive:\n${service.output()}`, { cause: error })
  })
  return status === 200
}

async function inspect(db: Db, actors: readonly Actor[], stage: Stage): Promise<{ lost: string[]; violations: string[] }> {
  const lost: string[] = []
  for (const actor of actors) lost.push(...(await actor.reconcile(db)))
  lost.push(...(await unaudited(db, stage.acknowledged)))
  const broken = (await violations(db)).map(({ rule, what }) => `${rule}: ${what}`)
  return { lost, violations: broken }
}

/** Every acknowledged call is in the audit as done, and a new project has its one event. */
async function unaudited(db: Db, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  const calls = acknowledged.filter((entry) => entry.invocationId !== null)
  const { rows } = await sql<{ what: string }>`
    select operation || ' ' || invocation_id as what
    from unnest(${calls.map((entry) => entry.operation)}::text[], ${calls.map((entry) => entry.invocationId)}::uuid[])
      as done (operation, invocation_id)
    where not exists (select from audit a where a.invocation_id = done.invocation_id and a.operation = done.operation and a.status = 200)
      or (operation = 'projects.create' and (select count(*) from event e where e.invocation_id = done.invocation_id
        and e.type = 'project.created') <> 1)
  `.execute(db)
  return rows.map((row) => `no audit entry or event of ${row.what}`)
}

export async function withDatabase<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const database = openDatabase(url, { maxConnections: 2 })
  try {
    return await work(database.db)
  } finally {
    await database.close()
  }
}
