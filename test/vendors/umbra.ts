import { readFileSync } from 'node:fs'
import { parseRegistry, type Registry } from '#adapters/vendors/registry.ts'
import type { ExchangeRate } from '#ports/vendors/source.ts'
import { startUmbra, type SimulatedUmbra } from '../../sandbox/vendors/umbra/server.ts'
import { square } from '../orders/support.ts'
import type { SimulatedVendor, VendorSetup } from './simulated-vendor.ts'

const REGISTRY = new URL('../../src/adapters/vendors/registry.json', import.meta.url)
const STEP_SECONDS = 120
/** Umbra has no prices: the operator sets them. */
const RATES: Readonly<Record<string, object>> = {
  ARCHIVE: { basis: 'area', centsPerSqKm: 180, minimumSqKm: 1 },
  TASKING: { basis: 'order', cents: 12_000 },
}

interface Entry extends Record<string, unknown> {
  auth: object
  products: ({ type: string } & Record<string, unknown>)[]
}

/** The shipped registry with Umbra alone, at the simulator's address and with the operator's rates. */
export function umbraRegistry({ url, tokenUrl, hosts }: Pick<SimulatedUmbra, 'url' | 'tokenUrl' | 'hosts'>, more: object = {}): string {
  const file = JSON.parse(readFileSync(REGISTRY, 'utf8')) as { sources: Entry[] }
  const sources = file.sources
    .filter(({ id }) => id === 'umbra')
    .map((source) => ({
      ...source,
      url: `${url}/archive`,
      services: { tasking: `${url}/tasking`, stac: `${url}/v2/stac` },
      auth: { ...source.auth, tokenUrl },
      downloadHosts: [hosts.files],
      markupPercent: 10,
      products: source.products.map((product) => ({ ...product, rateCard: RATES[product.type] })),
      ...more,
    }))
  return JSON.stringify({ ...file, sources })
}

const umbraSources = (umbra: SimulatedUmbra, exchange: ReadonlyMap<string, ExchangeRate>, more: object = {}): Registry =>
  parseRegistry(umbraRegistry(umbra, more), 'the registry of this test', {
    sandboxUrl: null,
    secrets: { VENDOR_UMBRA_CLIENT_ID: umbra.clientId, VENDOR_UMBRA_CLIENT_SECRET: umbra.clientSecret },
    exchange,
  })

export async function simulatedUmbra({ clock, workDir, exchange }: VendorSetup): Promise<SimulatedVendor & { umbra: SimulatedUmbra }> {
  const umbra = await startUmbra({ clock, workDir, stepSeconds: STEP_SECONDS })
  const { faults, clientId: client_id, clientSecret: client_secret, hosts } = umbra
  const lie = (reason: RegExp, tell: () => void, undo: () => void, isPlaced = true) => ({ tell, undo, reason, isPlaced })
  return {
    umbra,
    hostName: 'umbra',
    sources: umbraSources(umbra, exchange),
    egressAllow: [hosts.api, hosts.files],
    secret: { client_id, client_secret },
    wrongSecret: { client_id, client_secret: 'not-the-secret' },
    secretText: client_secret,
    currency: 'USD',
    isCancellable: true,
    statesPrices: false,
    scenesPerOrder: 1,
    stepSeconds: STEP_SECONDS,
    states: 8,
    refusedArea: { geometry: square(100, 10), reason: /does not overlap/ },
    budgetReason: /has no tasks left/,
    orderCount: () => umbra.tasks.length,
    async lastFiles() {
      const { image, metadata } = await umbra.files(umbra.tasks.at(-1)!.id)
      return [
        { key: 'data', role: 'data', bytes: image.bytes },
        { key: 'metadata', role: 'metadata', bytes: metadata.bytes },
      ]
    },
    leaked: () => umbra.fileHeaders.some((headers) => 'authorization' in headers || JSON.stringify(headers).includes(client_secret)),
    faults: {
      losePlacement: () => void faults.lostPlacements++,
      refuseCredential(requests) {
        if (requests > 0) umbra.revokeTokens()
        faults.refusedSignIns = requests
      },
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
          () => void (faults.checksum = `1220${'0'.repeat(64)}`),
          () => void (faults.checksum = null),
        ),
        'delivers an image of another place': lie(
          /does not cover the ordered area/,
          () => void (faults.isElsewhere = true),
          () => void (faults.isElsewhere = false),
        ),
        'cannot take an image that it sold': lie(
          /reports FAILED for every image/,
          () => void (faults.collectStatus = 'FAILED'),
          () => void (faults.collectStatus = null),
        ),
        'does not resell a scene that it listed': lie(
          /not for resale/,
          () => void faults.refusedCollects++,
          () => void (faults.refusedCollects = 0),
          false,
        ),
      },
    },
    close: () => umbra.close(),
  }
}
