/** Checks what a start would use, without starting or changing anything: `npm run config -- check`. */
import { sql } from 'kysely'
import { createBaseMaps } from '#adapters/base-maps/base-maps.ts'
import { readClipAreas } from '#adapters/clip/areas.ts'
import { openStorage } from '#adapters/storage/open.ts'
import { fixedSecret } from '#adapters/storage/signature.ts'
import { readRegistry } from '#adapters/vendors/registry.ts'
import { configOf, type Config } from '#config.ts'
import { systemClock } from '#core/clock.ts'
import { readSettings } from '#core/settings.ts'
import { asPlatform } from '#core/tenant.ts'
import { openDatabase } from '#db/open.ts'
import { findings } from './doctor.ts'
import { openSingleSignOn } from './sso.ts'
import { readWorkersFile } from './workers.ts'

export interface Check {
  readonly name: string
  /** What was found; or, if it fails, what to change. */
  readonly detail: string
  readonly isOk: boolean
}

const TIMEOUT_MS = 10_000
/** Files and hosts of the sandbox exist only while the service runs. */
const NO_SANDBOX = null

/** One line for each setting that is given: its name, its value unless it is secret, and where it comes from. */
export function givenSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  const given = [...readSettings(env).given].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return given.map(([name, { value, origin, isSecret }]) => `${name} = ${isSecret ? '(secret)' : value}, from ${origin}`)
}

export async function checkConfig(env: Readonly<Record<string, string | undefined>>): Promise<Check[]> {
  const config = configOf(readSettings(env))
  const checks: Check[] = [
    await check('SOURCES', config.sources ?? 'the built-in registry', () => sourcesOf(config)),
    await check('WORKERS', config.workers ?? 'none', () => readWorkersFile(config)),
    await check('CLIP_AREAS', config.clipAreas ?? 'none', () => readClipAreas(config.clipAreas, NO_SANDBOX)),
    ...(await Promise.all(config.baseMaps.map((map) => check(`Base map ${map.name}`, 'responds', () => askBaseMap(config, map.id))))),
    ...(config.oidc ? [await check('OIDC_ISSUER', `${config.oidc.issuer} responds`, () => askProvider(config))] : []),
    await check('Database', config.databaseUrl ? 'responds' : `embedded, in ${config.dataDir}`, () => askDatabase(config)),
    await check('Object store', config.storageUrl ? `${config.storageUrl} responds` : `files in ${config.dataDir}`, () => askStore(config)),
  ]
  const unsafe = findings(config).map((detail) => ({ name: 'Unsafe', detail, isOk: false }))
  return [...checks, ...unsafe]
}

async function check(name: string, detail: string, run: () => Promise<unknown>): Promise<Check> {
  try {
    await run()
    return { name, detail, isOk: true }
  } catch (error) {
    return { name, detail: (error as Error).message, isOk: false }
  }
}

async function sourcesOf({ sources, isOffline, vendorSecrets }: Config): Promise<void> {
  await readRegistry(sources, { sandboxUrl: NO_SANDBOX, isOffline, secrets: vendorSecrets, exchange: new Map() })
}

async function askBaseMap({ baseMaps: maps, egressAllow }: Config, id: string): Promise<void> {
  const baseMaps = createBaseMaps({ maps, clock: systemClock, egressAllow })
  try {
    await baseMaps.style(id, { theme: 'light', prefix: '' })
  } finally {
    await baseMaps.close()
  }
}

/** Its description only: whether it accepts the client shows at the first sign-in. */
async function askProvider(config: Config): Promise<void> {
  const sso = openSingleSignOn(config)
  try {
    await sso.discover(sso.installation!)
  } finally {
    await sso.close()
  }
}

/** The embedded database is not started: it belongs to the service. */
async function askDatabase({ databaseUrl, databaseDirectUrl, databasePooler }: Config): Promise<void> {
  for (const url of new Set([databaseUrl, databaseDirectUrl])) {
    if (!url) continue
    const database = openDatabase(url, {
      maxConnections: 1,
      maxSearchConnections: 1,
      hasTransactionPooler: databasePooler === 'transaction',
      direct: url,
    })
    try {
      await within(
        TIMEOUT_MS,
        asPlatform(() => sql`select 1`.execute(database.db)),
      )
    } catch (error) {
      throw new Error(`${url === databaseUrl ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL'}: ${(error as Error).message}`)
    } finally {
      await database.close()
    }
  }
}

async function askStore(config: Config): Promise<void> {
  if (!config.storageUrl) return
  const store = await openStorage({
    ...config,
    publicUrl: () => config.storeUrl,
    secrets: fixedSecret(Buffer.alloc(0)),
    clock: systemClock,
  })
  try {
    await store.probe(AbortSignal.timeout(TIMEOUT_MS))
  } catch (error) {
    throw new Error(`STORAGE_URL: ${(error as Error).message}`)
  } finally {
    await store.close()
  }
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(ms)
  const expired = new Promise<never>((_resolve, reject) => {
    late.addEventListener('abort', () => reject(new Error(`no response within ${ms / 1_000} s`)))
  })
  return await Promise.race([promise, expired])
}
