/** A well-behaved organization and a hostile one, each in a process of its own, for `fairness` and `soak-hostile`. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { openFileStore } from '#adapters/storage/files.ts'
import { systemClock } from '#core/clock.ts'
import { openDatabase } from '#db/open.ts'
import { secretOf } from '#model/platform/secret.ts'
import { createOwner, ok } from '../../test/support/client.ts'
import { scene } from '../../test/support/scene.ts'
import { embeddedUrl } from '../../test/support/service.ts'
import { startAttack } from './attacks.ts'
import { loopCpuMs } from './cpu.ts'
import { caller, count, randomTile, type Tenant } from './tenant-calls.ts'
import { storeFile } from '../../test/support/stored-file.ts'
import { fixedSecret } from '#adapters/storage/signature.ts'

export type Kind = 'tile' | 'search' | 'write'

export interface Seen {
  latenciesMs: Record<Kind, number[]>
  /** What the event loop computed, for anybody, while a call was under way: the same on a busy machine and a quiet one. */
  loopMs: Record<Kind, number[]>
  /** By status, other than 200. */
  refused: Record<string, number>
  /** Ids of items whose making was acknowledged. */
  written: string[]
}

export async function makeTenant(baseUrl: string, dataDir: string, name: string): Promise<Tenant> {
  const owner = await createOwner(baseUrl, `${name}@example.com`)
  const { id: projectId } = await ok(baseUrl, owner.token, 'projects.create', { name })
  const { key } = await ok(baseUrl, owner.token, 'api_keys.create', { name: 'bench', permissions: ['write'], rate_limit: 2_000_000_000 })
  const { id: itemId } = await ok(baseUrl, owner.token, 'items.create', { project_id: projectId, type: 'user_raster', name: 'Harbour' })
  const database = openDatabase(embeddedUrl(dataDir), { maxConnections: 2 })
  const secret = await secretOf(database.db, 'storage', new Date())
  const storage = await openFileStore({
    root: `${dataDir}/objects`,
    publicUrl: () => baseUrl,
    secrets: fixedSecret(secret),
    clock: systemClock,
  })
  const bytes = await scene({ width: 3_000, height: 2_000, degrees: 0.0001 })
  await storeFile({ db: database.db, storage, clock: { now: () => new Date(), advance() {} } }, itemId, {
    bytes,
    bandNames: ['blue', 'green', 'red', 'nir'],
  })
  await storage.close()
  await database.close()
  for (let batch = 0; batch < 4; batch++) {
    const features = Array.from({ length: 500 }, (_, n) => ({
      type: 'Feature',
      id: `${name}-${batch}-${n}`,
      geometry: { type: 'Point', coordinates: [150 + Math.random() * 2, -34 + Math.random() * 2] },
      properties: { datetime: new Date(1.7e12 + n * 1e7).toISOString(), note: 'x'.repeat(200) },
      assets: {},
    }))
    await ok(baseUrl, key, 'items.import_stac', { project_id: projectId, ndjson: features.map((each) => JSON.stringify(each)).join('\n') })
  }
  return { baseUrl, key, projectId, itemId }
}

const randomBox = () => {
  const [west, south] = [150 + Math.random(), -34 + Math.random()]
  return [west, south, west + 0.5, south + 0.5]
}

/** Five calls a second, each kind in turn, whatever the answers take. */
async function behave(tenant: Tenant, forMs: number, servicePid: number | null): Promise<Seen> {
  const ask = caller(tenant)
  const loopMs = () => (servicePid === null ? 0 : loopCpuMs(servicePid))
  const seen: Seen = {
    latenciesMs: { tile: [], search: [], write: [] },
    loopMs: { tile: [], search: [], write: [] },
    refused: {},
    written: [],
  }
  const callOnce = async (kind: Kind): Promise<void> => {
    const [began, computed] = [performance.now(), loopMs()]
    const { status, body } =
      kind === 'tile'
        ? await ask('items.tile.render', randomTile(tenant.itemId))
        : kind === 'search'
          ? await ask('items.search', { project_id: tenant.projectId, bbox: randomBox(), limit: 10 })
          : await ask('items.create', { project_id: tenant.projectId, type: 'clip', name: 'w' })
    if (status !== 200) return count(seen.refused, { [`${kind} ${status}`]: 1 })
    seen.latenciesMs[kind].push(performance.now() - began)
    seen.loopMs[kind].push(loopMs() - computed)
    if (kind === 'write') seen.written.push((JSON.parse(body.toString()) as { id: string }).id)
  }
  const calls: Promise<void>[] = []
  const end = performance.now() + forMs
  for (let n = 0; performance.now() < end; n++) {
    const kind = (['tile', 'search', 'write'] as const)[n % 3]!
    calls.push(
      callOnce(kind).catch((error: { code?: string; name: string }) => count(seen.refused, { [`${kind} ${error.code ?? error.name}`]: 1 })),
    )
    await sleep(200)
  }
  await Promise.all(calls)
  return seen
}

type Order =
  | { role: 'behave'; tenant: Tenant; forMs: number; servicePid: number | null }
  | { role: 'attack'; tenant: Tenant }
  | { role: 'stop' }

const CHILD = '--tenant'
/** A session of its own: Linux then shares the processors out between it and the service, as if it were somewhere else. */
const APART = { detached: true }

export async function behaveApart(tenant: Tenant, forMs: number, servicePid: number | null = null): Promise<Seen> {
  const child = fork(import.meta.filename, [CHILD], APART)
  child.send({ role: 'behave', tenant, forMs, servicePid } satisfies Order)
  const [seen] = (await once(child, 'message')) as [Seen]
  return seen
}

interface Attacker {
  /** How many of its calls had which answer. */
  stop(): Promise<Record<string, number>>
}

export function attackApart(tenant: Tenant): Attacker {
  const child = fork(import.meta.filename, [CHILD], APART)
  child.send({ role: 'attack', tenant } satisfies Order)
  return {
    async stop() {
      child.send({ role: 'stop' } satisfies Order)
      const [answered] = (await once(child, 'message')) as [Record<string, number>]
      return answered
    },
  }
}

function serve(): void {
  let answered: Record<string, number> = {}
  const leave = (result: object) => process.send!(result, () => process.exit(0))
  process.on('disconnect', () => process.exit(1)) // Nobody outlives the bench.
  process.on('message', (order: Order) => {
    if (order.role === 'attack') answered = startAttack(order.tenant)
    else if (order.role === 'stop') leave(answered)
    else void behave(order.tenant, order.forMs, order.servicePid).then(leave)
  })
}

if (process.argv.includes(CHILD) && import.meta.main) serve()
