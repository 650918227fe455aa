import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import { startSkyfi, type SimulatedSkyfi } from '../../sandbox/vendors/skyfi/server.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { square } from '../orders/support.ts'
import type { SimulatedVendor, VendorSetup } from './simulated-vendor.ts'

const REGISTRY = new URL('../../src/adapters/vendors/registry.json', import.meta.url)
const STEP_SECONDS = 60

/** The shipped registry with SkyFi alone, at the simulator's address. */
export function skyfiRegistry({ url, hosts }: Pick<SimulatedSkyfi, 'url' | 'hosts'>, more: object = {}): string {
  const file = JSON.parse(readFileSync(REGISTRY, 'utf8')) as { sources: Record<string, unknown>[] }
  const sources = file.sources
    .filter(({ id }) => id === 'skyfi')
    .map((source) => ({ ...source, url, downloadHosts: [hosts.files], markupPercent: 10, ...more }))
  return JSON.stringify({ ...file, sources })
}

/** The square with a dent in its east side. */
function dented(area: AreaGeometry): AreaGeometry {
  const [ring] = area.coordinates as [number, number][][]
  return { type: 'Polygon', coordinates: [[...ring!.slice(0, 2), [2.305, 48.205], ...ring!.slice(2)]] }
}

export async function simulatedSkyfi({ clock, workDir, exchange }: VendorSetup): Promise<SimulatedVendor & { skyfi: SimulatedSkyfi }> {
  const skyfi = await startSkyfi({ clock, workDir, stepSeconds: STEP_SECONDS })
  const { faults, key, hosts } = skyfi
  const lie = (reason: RegExp, tell: () => void, undo: () => void, isPlaced = true) => ({ tell, undo, reason, isPlaced })
  return {
    skyfi,
    hostName: 'skyfi',
    sources: parseRegistry(skyfiRegistry(skyfi), 'the registry of this test', {
      sandboxUrl: null,
      secrets: { VENDOR_SKYFI_KEY: key },
      exchange,
    }),
    egressAllow: [hosts.api, hosts.files],
    secret: { key },
    wrongSecret: { key: 'not-the-key-of-anyone' },
    secretText: key,
    currency: 'USD',
    isCancellable: false,
    statesPrices: true,
    scenesPerOrder: 1,
    stepSeconds: STEP_SECONDS,
    states: 9,
    refusedArea: { geometry: dented(square()), reason: /convex/ },
    budgetReason: /Budget exceeded/,
    orderCount: () => skyfi.orders.length,
    async lastFiles() {
      const { path } = await skyfi.file(skyfi.orders.at(-1)!.id)
      return [{ key: 'data', role: 'data', bytes: await readFile(path) }]
    },
    leaked: () => skyfi.fileHeaders.some((headers) => JSON.stringify(headers).includes(key)),
    faults: {
      losePlacement: () => void faults.lostPlacements++,
      refuseCredential: (requests) => void (faults.refusedKeys = requests),
      refuseBudget: () => void faults.overBudget++,
      expireLink: () => void faults.expiredLinks++,
      breakTransfer: () => void faults.brokenTransfers++,
      setState: (state) => void (faults.status = state),
      limitRequests: (requests) => void (faults.limited = requests),
      lies: {
        'charges more than it stated': lie(
          /charged USD/,
          () => void (faults.chargeFactor = 2),
          () => void (faults.chargeFactor = 1),
        ),
        'charges for a larger area': lie(
          /km² instead of/,
          () => void (faults.areaFactor = 1.5),
          () => void (faults.areaFactor = 1),
        ),
        'states another size of the file': lie(
          /of the \d+ bytes/,
          () => void (faults.extraBytes = 10),
          () => void (faults.extraBytes = 0),
        ),
        'raises the price after the order was made': lie(
          /more than was agreed on/,
          () => void (faults.extraCentsPerSqKm = 100),
          () => void (faults.extraCentsPerSqKm = 0),
          false,
        ),
      },
    },
    close: () => skyfi.close(),
  }
}
