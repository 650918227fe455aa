/**
 * The table of docs/vendors-verified.md: which step of the scenario is tested with which adapter, by which test. Adapters are those
 * that `shops.test.ts` takes through its scenario, and `stapi`, which has one of its own.
 *
 * Run: node test/vendors/verified.ts writes the page; `verified.test.ts` fails if it is not as here, or if a test does not exist.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { POINTS } from '../orders/service.ts'

const ROOT = new URL('../../', import.meta.url)
export const PAGE = new URL('docs/vendors-verified.md', ROOT)
export const textOf = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8')

const SHOPS = 'test/vendors/shops.test.ts'
const STAPI = 'test/vendors/stapi.test.ts'
const PLANET = 'test/vendors/planet.test.ts'
const UP42 = 'test/vendors/up42.test.ts'
const SKYFI_TASKING = 'test/vendors/skyfi-tasking.test.ts'
const UMBRA = 'test/vendors/umbra.test.ts'

export interface Proof {
  readonly file: string
  readonly test: string
}

interface Step {
  readonly step: string
  /** In `shops.test.ts`, for each of its vendors. */
  readonly shops?: string
  /** In tests of one adapter. */
  readonly own?: Readonly<Record<string, Proof>>
}

const stapi = (test: string) => ({ stapi: { file: STAPI, test } })
const LOST = 'the response to the placement is lost: the next attempt finds the order, and buys nothing'
const STAPI_LOST = 'the response to the placement is lost: the next attempt finds the order by its window, and buys nothing'
const STAPI_MID_RUN = 'a server that confirms with a URL alone, 401 in mid-run, a limit and an unknown state fail no order'
const MID_RUN = '401 in mid-run, requests over the limit and an unknown state fail no order'

const STEPS: readonly Step[] = [
  { step: 'Page through a search', shops: 'a search is paged, and every scene comes once' },
  {
    step: 'Page through passes',
    own: stapi('passes come over several pages, limited by angle, also from a server that searches asynchronously'),
  },
  { step: 'Preview', shops: 'a preview is shown, and the credential stays with the API' },
  {
    step: 'Price',
    shops: 'the price is converted with margin and markup, rounded up once, and kept with the group',
    own: stapi('the price is the rate card, converted with margin and markup'),
  },
  { step: 'Response to the placement lost, placed again: one order', shops: LOST, own: stapi(STAPI_LOST) },
  {
    step: 'Two placements at once: one order',
    shops: 'two placements at once send one order',
    own: stapi('two orders of the same area and window are two orders, and concurrent placements of one are one'),
  },
  { step: 'Every state; an expired link and a broken transfer; items with assets and checksums', shops: LOST, own: stapi(STAPI_LOST) },
  { step: '401 in mid-run', shops: MID_RUN, own: stapi(STAPI_MID_RUN) },
  { step: 'Unknown state', shops: MID_RUN, own: stapi(STAPI_MID_RUN) },
  {
    step: 'Quota used up',
    shops: 'the account must not buy: the order fails with the reason of the vendor, and nothing is charged',
    own: stapi('a used-up quota and a rejection fail the order with the reason, and nothing is charged'),
  },
  {
    step: 'Wrong sizes, checksums, scenes or places are not paid',
    shops: 'a vendor that ${lie} is not paid',
    own: stapi('a server whose file ${lie} is not paid'),
  },
  {
    step: 'Cancellation, accepted or rejected',
    shops: 'cancelling is refused or done as the vendor does it',
    own: stapi('an accepted order is not cancelled, and is delivered'),
  },
  {
    step: "The organization's own account",
    shops: "an organization's own account: a wrong key is reported at once, and nothing is stored",
    own: stapi("an organization's own account: a wrong key is reported at once; with the right one, the vendor bills by its contract"),
  },
  {
    step: 'Tasking',
    own: {
      skyfi: {
        file: SKYFI_TASKING,
        test: 'the response to the order is lost: one order at the vendor, of the accepted pass, paid as shown',
      },
      umbra: { file: UMBRA, test: 'a study lists passes, of which one is tasked, once, and delivered at the price that was shown' },
      planet: { file: PLANET, test: 'a new image is tasked once, ordered once when it is published, and delivered' },
      up42: { file: UP42, test: 'a study, a quotation, an image: one order at UP42, which costs what was quoted' },
      ...stapi(STAPI_LOST),
    },
  },
  {
    step: 'Tasking cancelled or rejected',
    own: {
      skyfi: { file: SKYFI_TASKING, test: 'an order is cancelled before it is sent, and not after' },
      umbra: { file: UMBRA, test: 'a task is cancelled at Umbra, and one that expires costs nothing' },
      planet: { file: PLANET, test: 'a tasking order is cancelled at the vendor' },
      up42: { file: UP42, test: 'a quotation that is rejected here is rejected at UP42, and costs nothing' },
      ...stapi('two orders of the same area and window are two orders, and concurrent placements of one are one'),
    },
  },
]

/** Packages that speak the protocol for the vendor, the files that pin their versions, and the tests. */
const PEERS: Readonly<Record<string, readonly { package: string; pins: string; proof: Proof }[]>> = {
  planet: [
    {
      package: 'planet',
      pins: '.ci/requirements.txt',
      proof: { file: 'test/peers/planet.ts', test: "Planet's client at the simulated APIs" },
    },
  ],
  up42: [
    {
      package: 'up42-py',
      pins: '.ci/requirements-up42.txt',
      proof: { file: 'test/peers/up42-vendor.ts', test: 'up42-py and the simulated UP42' },
    },
  ],
  stapi: [
    {
      package: 'stapi-fastapi',
      pins: '.ci/requirements-stapi.txt',
      proof: { file: 'test/peers/stapi-server.ts', test: 'our STAPI adapter at stapi-fastapi' },
    },
    {
      package: 'stapi-pydantic',
      pins: '.ci/requirements.txt',
      proof: { file: 'test/peers/stapi.ts', test: 'stapi-pydantic at the simulated server' },
    },
  ],
}

/** Descriptions that our requests and the simulator's responses are compared with, where no vendor's own program exists. */
const DOCUMENTS: Readonly<Record<string, { title: string; proof: Proof }>> = {
  skyfi: {
    title: 'OpenAPI document 2.0.0',
    proof: { file: 'test/vendors/skyfi-openapi.test.ts', test: 'requests and responses conform to the OpenAPI document' },
  },
  umbra: {
    title: 'transcribed OpenAPI documents',
    proof: { file: 'test/vendors/umbra-openapi.test.ts', test: 'requests and responses conform to the OpenAPI documents' },
  },
}

/** The standard's own client, which is not on the package index. */
const PYSTAPI: Proof = { file: 'test/peers/stapi-client.ts', test: 'pystapi-client at our STAPI server' }
const PYSTAPI_VERSION = '0.0.1'
const PYSTAPI_RESULTS: readonly [call: string, result: string][] = [
  ['`Client.open` with a URL below the root of a host', 'fails: it requests the landing page at the root'],
  ['`Client.open` with `headers`', 'fails with 401: it does not send them; `request_modifier` works'],
  ['`get_products`, `get_product`, conformance', 'work, over all pages'],
  ['`get_product_opportunities`', 'works, over all pages'],
  ['`create_product_order`', 'places the order, and raises `APIError`: it takes 201, which the standard asks for, for an error'],
  ['`get_orders`, `get_order`', 'work'],
]

/** The vendors of the scenario, as `shops.test.ts` names them. */
const shopNames = (): string[] => [...textOf(SHOPS).matchAll(/^ {2}(\w+): \(_t, setup\) =>/gm)].map(([, name]) => name!)

const proofOf = ({ shops, own }: Step, adapter: string): Proof | null =>
  own?.[adapter] ?? (shops !== undefined && shopNames().includes(adapter) ? { file: SHOPS, test: shops } : null)

function versionOf(name: string, pins: string): string {
  const version = new RegExp(`^${name}==(\\S+)$`, 'm').exec(textOf(pins))?.[1]
  if (version === undefined) throw new Error(`${pins} does not pin ${name}`)
  return version
}

const pointsOf = (adapter: string): number =>
  Object.entries(POINTS).reduce((sum, [way, points]) => sum + (way.split(' ')[0] === adapter ? points.length : 0), 0)

const totalPoints = (adapters: readonly string[]): string => {
  const [all, ours] = [Object.values(POINTS).flat().length, adapters.reduce((sum, adapter) => sum + pointsOf(adapter), 0)]
  return `${all}: ${ours} at these adapters, and ${all - ours} at the sandbox`
}

/** Every test that the page names. */
export function proofs(): Proof[] {
  const adapters = [...shopNames(), 'stapi']
  const steps = STEPS.flatMap((step) => adapters.flatMap((adapter) => proofOf(step, adapter) ?? []))
  const peers = Object.values(PEERS).flatMap((each) => each.map(({ proof }) => proof))
  return [...steps, ...peers, ...Object.values(DOCUMENTS).map(({ proof }) => proof), PYSTAPI]
}

export function page(): string {
  const adapters = [...shopNames(), 'stapi']
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const link = ({ file, test }: Proof) => `[yes](../${file} "${test.replaceAll('"', "'").replaceAll('|', '/')}")`
  const peers = (adapter: string) =>
    (PEERS[adapter] ?? []).map(({ package: name, pins, proof }) => `[${name} ${versionOf(name, pins)}](../${proof.file})`).join(', ') || '–'
  const document = (adapter: string) => {
    const compared = DOCUMENTS[adapter]
    return compared ? `[${compared.title}](../${compared.proof.file})` : '–'
  }
  return `${[
    '# What is verified with which vendor',
    '',
    'Each adapter goes through the same scenario with a simulator that speaks the protocol of the vendor. Each *yes* links ' +
      'to the file of a test that runs with every change; its title is the name of the test. A dash is a step that the ' +
      'vendor or the adapter does not have. Nothing here was tested with a real account: the [guide](guides/vendors.md) says ' +
      'so for each vendor.',
    '',
    "*Kill points* are the places at which the service is ended by SIGKILL on an order's way; afterwards there is one " +
      'order at the vendor, the money is correct, and nothing is left open ([the test](../test/orders/kill.test.ts); ' +
      `\`CAMPAIGN=long\` runs all ${totalPoints(adapters)}). *Peers* are programs of the vendor or of the standard that work with ` +
      'the simulator, or, for stapi-fastapi, with the adapter itself. *Documents* are descriptions of the API that our requests and ' +
      "the simulator's responses conform to: SkyFi's own is compared with where a copy of it is at hand, and what is known of " +
      "Umbra's is written down in the repository.",
    '',
    'This page is written by `node test/vendors/verified.ts`; `test/vendors/verified.test.ts` checks it.',
    '',
    row(['Step', ...adapters]),
    row(['---', ...adapters.map(() => '---')]),
    ...STEPS.map((step) =>
      row([
        step.step,
        ...adapters.map((adapter) => {
          const proof = proofOf(step, adapter)
          return proof ? link(proof) : '–'
        }),
      ]),
    ),
    row(['Kill points', ...adapters.map((adapter) => String(pointsOf(adapter) || '–'))]),
    row(['Peers', ...adapters.map(peers)]),
    row(['Documents', ...adapters.map(document)]),
    '',
    '## The client of the STAPI standard',
    '',
    `[pystapi-client ${PYSTAPI_VERSION}](../${PYSTAPI.file}) is not on the package index. Installed from its repository (September ` +
      '2025), with stapi-pydantic 0.1.0, it was run at `/stapi` and at the simulated server, with the same results:',
    '',
    row(['Call', 'Result']),
    row(['---', '---']),
    ...PYSTAPI_RESULTS.map((cells) => row(cells)),
  ].join('\n')}\n`
}

if (import.meta.main) writeFileSync(PAGE, page())
