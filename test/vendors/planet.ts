import { readFileSync } from 'node:fs'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import { startPlanet, type SimulatedPlanet } from '../../sandbox/vendors/planet/server.ts'
import { square } from '../orders/support.ts'
import type { SimulatedVendor, VendorSetup } from './simulated-vendor.ts'

const REGISTRY = new URL('../../src/adapters/vendors/registry.json', import.meta.url)
const STEP_SECONDS = 60
/** Planet has no prices: the operator sets them. */
const RATE = { basis: 'area', centsPerSqKm: 180, minimumSqKm: 1 }

interface Entry extends Record<string, unknown> {
  products: Record<string, unknown>[]
}

/** The shipped registry with Planet alone, at the simulator's address and with the operator's rates. */
export function planetRegistry({ url, tilesUrl, hosts }: Pick<SimulatedPlanet, 'url' | 'tilesUrl' | 'hosts'>, more: object = {}): string {
  const file = JSON.parse(readFileSync(REGISTRY, 'utf8')) as { sources: Entry[] }
  const sources = file.sources
    .filter(({ id }) => id === 'planet')
    .map((source) => ({
      ...source,
      url,
      services: { tiles: tilesUrl },
      downloadHosts: [hosts.files],
      markupPercent: 10,
      products: source.products.map((product) => ({ ...product, rateCard: RATE })),
      ...more,
    }))
  return JSON.stringify({ ...file, sources })
}

export async function simulatedPlanet({ clock, workDir, exchange }: VendorSetup): Promise<SimulatedVendor & { planet: SimulatedPlanet }> {
  const planet = await startPlanet({ clock, workDir, stepSeconds: STEP_SECONDS })
  const { faults, key, hosts } = planet
  const lie = (reason: RegExp, tell: () => void, undo: () => void) => ({ tell, undo, reason, isPlaced: true })
  return {
    planet,
    hostName: 'planet',
    sources: parseRegistry(planetRegistry(planet), 'the registry of this test', {
      sandboxUrl: null,
      secrets: { VENDOR_PLANET_KEY: key },
      exchange,
    }),
    egressAllow: [hosts.api, hosts.tiles, hosts.files],
    secret: { key },
    wrongSecret: { key: 'not-the-key-of-anyone' },
    secretText: key,
    currency: 'USD',
    isCancellable: true,
    statesPrices: false,
    scenesPerOrder: 250,
    stepSeconds: STEP_SECONDS,
    states: 9,
    refusedArea: { geometry: square(100, 10), reason: /does not overlap/ },
    budgetReason: /quota of this contract is exceeded/,
    orderCount: () => planet.orders.length,
    async lastFiles() {
      const files = await planet.files(planet.orders.at(-1)!.id)
      const [image, mask, xml, json] = files.map(({ bytes }) => bytes)
      return [
        { key: 'data', role: 'data', bytes: image! },
        { key: 'udm2', role: 'mask', bytes: mask! },
        { key: 'ortho_analytic_8b_xml', role: 'metadata', bytes: xml! },
        { key: 'metadata', role: 'metadata', bytes: json! },
      ]
    },
    leaked: () => planet.fileHeaders.some((headers) => JSON.stringify(headers).includes(key) || 'authorization' in headers),
    faults: {
      losePlacement: () => void faults.lostPlacements++,
      refuseCredential: (requests) => void (faults.refusedKeys = requests),
      refuseBudget: () => void faults.overQuota++,
      expireLink: () => void faults.expiredLinks++,
      breakTransfer: () => void faults.brokenTransfers++,
      setState: (state) => void (faults.status = state),
      limitRequests: (requests) => void (faults.limited = requests),
      lies: {
        'states another size of the file': lie(
          /of the \d+ bytes/,
          () => void (faults.extraBytes = 10),
          () => void (faults.extraBytes = 0),
        ),
        'states another checksum of the file': lie(
          /with another sha256 than stated/,
          () => void (faults.hasWrongDigests = true),
          () => void (faults.hasWrongDigests = false),
        ),
        'delivers another scene': lie(
          /which was not ordered/,
          () => void (faults.hasStrayScene = true),
          () => void (faults.hasStrayScene = false),
        ),
      },
    },
    close: () => planet.close(),
  }
}
