import { readFileSync } from 'node:fs'
import { parseRegistry, type Registry } from '#adapters/vendors/registry.ts'
import type { ExchangeRate } from '#ports/vendors/source.ts'
import { startUp42, type SimulatedUp42 } from '../../sandbox/vendors/up42/server.ts'
import { square } from '../orders/support.ts'
import type { SimulatedVendor, VendorSetup } from './simulated-vendor.ts'

const REGISTRY = new URL('../../src/adapters/vendors/registry.json', import.meta.url)
const STEP_SECONDS = 120

type Address = Pick<SimulatedUp42, 'url' | 'authUrl' | 'hosts'>

/** The shipped registry with UP42 alone, at the simulator's address. */
export function up42Registry({ url, authUrl, hosts }: Address, more: object = {}): string {
  const file = JSON.parse(readFileSync(REGISTRY, 'utf8')) as { sources: { id: string; auth: object }[] }
  const sources = file.sources
    .filter(({ id }) => id === 'up42')
    .map((source) => ({
      ...source,
      url,
      services: { auth: authUrl },
      auth: { ...source.auth, tokenUrl: `${authUrl}/token` },
      downloadHosts: [hosts.files],
      markupPercent: 10,
      ...more,
    }))
  return JSON.stringify({ ...file, sources })
}

export const up42Sources = (up42: SimulatedUp42, exchange: ReadonlyMap<string, ExchangeRate>): Registry =>
  parseRegistry(up42Registry(up42), 'the registry of this test', {
    sandboxUrl: null,
    secrets: { VENDOR_UP42_USER: up42.user, VENDOR_UP42_PASSWORD: up42.password },
    exchange,
  })

export async function simulatedUp42({ clock, workDir, exchange }: VendorSetup): Promise<SimulatedVendor & { up42: SimulatedUp42 }> {
  const up42 = await startUp42({ clock, workDir, stepSeconds: STEP_SECONDS })
  const { faults, user, password, hosts } = up42
  const lie = (reason: RegExp, tell: () => void, undo: () => void, isPlaced = true) => ({ tell, undo, reason, isPlaced })
  return {
    up42,
    hostName: 'up42',
    sources: up42Sources(up42, exchange),
    egressAllow: [hosts.api, hosts.files],
    secret: { user, password },
    wrongSecret: { user, password: 'not-the-password' },
    secretText: password,
    currency: 'EUR',
    isCancellable: true,
    statesPrices: true,
    statesCharges: false,
    hasSearchPrices: false,
    scenesPerOrder: 1,
    stepSeconds: STEP_SECONDS,
    states: 6,
    refusedArea: { geometry: square(100, 10), reason: /does not overlap/ },
    budgetReason: /Budget exceeded/,
    orderCount: () => up42.orders.length,
    async lastFiles() {
      const { image, mask } = await up42.files(up42.orders.at(-1)!.id)
      return [
        { key: 'data', role: 'data', bytes: image.bytes },
        { key: 'cloud', role: 'metadata', bytes: mask.bytes },
      ]
    },
    leaked: () => up42.fileHeaders.some((headers) => 'authorization' in headers || JSON.stringify(headers).includes(password)),
    faults: {
      losePlacement: () => void faults.lostPlacements++,
      refuseCredential(requests) {
        if (requests > 0) up42.revokeTokens()
        faults.refusedSignIns = requests
      },
      refuseBudget: () => void faults.overBudget++,
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
        'cannot open the archive of the producer': lie(
          /could not open the producer's archive/,
          () => void (faults.extraction = 'FAILED'),
          () => void (faults.extraction = null),
        ),
        'raises the price after the order was made': lie(
          /more than was agreed on/,
          () => void (faults.extraCredits = 100),
          () => void (faults.extraCredits = 0),
          false,
        ),
      },
    },
    close: () => up42.close(),
  }
}
