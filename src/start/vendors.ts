import path from 'node:path'
import type { Logger } from 'pino'
import { AreasError, readClipAreas } from '#adapters/clip/areas.ts'
import { readRegistry, RegistryError } from '#adapters/vendors/registry.ts'
import { createVendors, fileHostsOf } from '#adapters/vendors/vendors.ts'
import type { Config } from '#config.ts'
import { ConfigError } from '#core/settings.ts'
import { systemClock } from '#core/clock.ts'
import type { Seal } from '#core/seal.ts'
import type { Db } from '#db/tables.ts'
import { createVendorAccounts } from '#model/vendors/account.ts'
import { createVendorTokens } from '#model/vendors/token.ts'
import type { ExchangeRate } from '#ports/vendors/source.ts'
import type { Parts } from './compose.ts'
import { listenProblem } from './listen-problem.ts'

/** The imagery sources of the registry, with the sandbox behind those that are simulated. */
export async function startVendors(
  config: Config,
  { db, log, secrets }: { db: Db; log: Logger; secrets: Seal },
  started: AsyncDisposableStack,
): Promise<Pick<Parts, 'vendors' | 'fileHosts' | 'clipAreas'>> {
  const sandboxUrl = config.sandbox ? await startSimulatedVendors(config, db, started) : null
  const { isOffline, vendorSecrets, exchangeRates } = config
  const options = { sandboxUrl, isOffline, secrets: vendorSecrets, exchange: exchangeOf(exchangeRates) }
  const registry = await readRegistry(config.sources, options).catch((error: unknown) => {
    throw error instanceof RegistryError ? new ConfigError(`SOURCES: ${error.message}`) : error
  })
  for (const { hostName, setting } of registry.withoutCredential) log.warn(`Source ${hostName} is disabled: ${setting} is not set`)
  const vendors = createVendors({
    registry,
    clock: systemClock,
    tokens: createVendorTokens(db, systemClock),
    accounts: createVendorAccounts(db, secrets),
    egressAllow: config.egressAllow,
  })
  started.defer(() => vendors.close())
  const clipAreas = await readClipAreas(config.clipAreas, sandboxUrl).catch((error: unknown) => {
    throw error instanceof AreasError ? new ConfigError(`CLIP_AREAS: ${error.message}`) : error
  })
  return { vendors, fileHosts: fileHostsOf(registry), clipAreas }
}

const exchangeOf = ({ audPerUnit, day, marginPercent }: Config['exchangeRates']): ReadonlyMap<string, ExchangeRate> =>
  new Map(Object.entries(audPerUnit).map(([currency, rate]) => [currency, { audPerUnit: rate, day, marginPercent }]))

async function startSimulatedVendors(config: Config, db: Db, started: AsyncDisposableStack): Promise<string> {
  const port = config.sandboxVendorsPort
  const { startSandbox } = await import('../../sandbox/index.ts')
  const workDir = path.join(config.dataDir, 'sandbox')
  const settings = { port, clock: systemClock, workDir, deliverySeconds: config.sandboxDeliverySeconds }
  const sandbox = await startSandbox({ db, payments: null, vendors: settings }).catch((error: unknown) => {
    throw listenProblem(error, { setting: 'SANDBOX_VENDORS_PORT', host: '127.0.0.1', port, dataDir: config.dataDir })
  })
  started.defer(() => sandbox.close())
  return sandbox.vendors!.url
}
