import path from 'node:path'
import { AreasError, readClipAreas } from '#adapters/clip/areas.ts'
import { readRegistry, RegistryError } from '#adapters/vendors/registry.ts'
import { createVendors, fileHostsOf } from '#adapters/vendors/vendors.ts'
import { ConfigError, type Config } from '#config.ts'
import { systemClock } from '#core/clock.ts'
import type { Db } from '#db/tables.ts'
import type { Parts } from './compose.ts'
import { listenProblem } from './listen-problem.ts'

/** The imagery sources of the registry, with the sandbox behind those that are simulated. */
export async function startVendors(
  config: Config,
  db: Db,
  started: AsyncDisposableStack,
): Promise<Pick<Parts, 'vendors' | 'fileHosts' | 'clipAreas'>> {
  const sandboxUrl = config.sandbox ? await startSimulatedVendors(config, db, started) : null
  const registry = await readRegistry(config.sources, sandboxUrl).catch((error: unknown) => {
    throw error instanceof RegistryError ? new ConfigError(`SOURCES: ${error.message}`) : error
  })
  const vendors = createVendors({ registry, egressAllow: config.egressAllow })
  started.defer(() => vendors.close())
  const clipAreas = await readClipAreas(config.clipAreas, sandboxUrl).catch((error: unknown) => {
    throw error instanceof AreasError ? new ConfigError(`CLIP_AREAS: ${error.message}`) : error
  })
  return { vendors, fileHosts: fileHostsOf(registry), clipAreas }
}

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
