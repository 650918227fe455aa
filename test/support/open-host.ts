/** An open host in the hands of a test: a STAC API with one file per band, whose scenes and failures the test decides. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { readRegistry, type Registry } from '#adapters/vendors/registry.ts'
import { scene } from './scene.ts'

export const OPEN_HOST = 'test-open'
const COLLECTION = 'test-bands'
const BANDS = ['red', 'nir'] as const
/** Lies inside every scene. */
export const INSIDE = {
  type: 'Polygon',
  coordinates: [
    [
      [151.02, -33.08],
      [151.08, -33.08],
      [151.08, -33.02],
      [151.02, -33.02],
      [151.02, -33.08],
    ],
  ],
}
const FOOTPRINT = {
  type: 'Polygon',
  coordinates: [
    [
      [151, -33.2],
      [151.3, -33.2],
      [151.3, -33],
      [151, -33],
      [151, -33.2],
    ],
  ],
}

interface PublishedScene {
  id: string
  datetime: string
  cloudCover: number
  /** The value of all pixels, by band. */
  values?: Partial<Record<(typeof BANDS)[number], number>>
  properties?: Record<string, unknown>
  /** Files that are not rasters. */
  bytes?: Partial<Record<(typeof BANDS)[number], Buffer>>
  /** Further fields of each file. */
  fields?: Record<string, unknown>
  /** Links of files that are not here. */
  hrefs?: Partial<Record<(typeof BANDS)[number], string>>
}

interface OpenHost {
  sources: Registry
  publish(scene: PublishedScene): Promise<void>
  withdraw(id: string): void
  /** Searches so far, as they were sent. */
  searches: Record<string, unknown>[]
  script: {
    /** Status of all searches instead of a result. */
    searchStatus?: number
    /** Transfers of whole files end after this many bytes; each value is used once. */
    breaksAt: number[]
    /** Status of a file, by its name, instead of its bytes. */
    fileStatus: Record<string, number>
    /** Whole files that are requested wait for it. */
    beforeFile?: () => Promise<void>
  }
  /** Offsets of the requests for whole files. */
  transfers: number[]
}

export async function openHost(t: TestContext): Promise<OpenHost> {
  const published = new Map<string, PublishedScene>()
  const files = new Map<string, Buffer>()
  const server = createServer((request, response) => {
    answer(host, published, files, request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const host: OpenHost = {
    sources: withHost(await readRegistry(null, { sandboxUrl: url, isOffline: true }), url),
    searches: [],
    script: { breaksAt: [], fileStatus: {} },
    transfers: [],
    async publish(next) {
      published.set(next.id, next)
      for (const band of BANDS) {
        const value = next.values?.[band]
        const options = { bandNames: [band], ...(value === undefined ? {} : { value: () => value }) }
        files.set(`${next.id}-${band}.tif`, next.bytes?.[band] ?? Buffer.from(await scene(options)))
      }
    },
    withdraw(id) {
      published.delete(id)
      for (const band of BANDS) files.delete(`${id}-${band}.tif`)
    },
  }
  return host
}

/** Only this host, with everything else as for the sandbox's Landsat. */
function withHost(registry: Registry, url: string): Registry {
  const [source, address] = [
    registry.sources.find(({ hostName }) => hostName === 'sandbox-landsat')!,
    registry.hosts.find(({ hostName }) => hostName === 'sandbox-landsat')!,
  ]
  const collection = source.collections[0]!
  const band = { ...collection.bands[0]!, scale: null, offset: null, nodata: null }
  const bands = BANDS.map((name) => ({ ...band, name, role: name.toUpperCase(), asset: name, commonName: name }))
  const own = {
    ...source,
    id: OPEN_HOST,
    hostName: OPEN_HOST,
    title: 'Test host',
    attribution: 'Test agency',
    license: 'CC-BY-4.0',
    simulated: false,
    collections: [{ ...collection, id: COLLECTION, bands, assets: [...BANDS], visual: null, publicProvider: null }],
  }
  return {
    ...registry,
    sources: [...registry.sources.filter(({ hostName }) => hostName === 'sandbox-vhr'), own],
    hosts: [...registry.hosts, { ...address, hostName: OPEN_HOST, url, fileHosts: [new URL(url).host] }],
  }
}

async function answer(
  host: OpenHost,
  published: ReadonlyMap<string, PublishedScene>,
  files: ReadonlyMap<string, Buffer>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'POST') {
    const query = JSON.parse(await text(request)) as Record<string, unknown>
    host.searches.push(query)
    const { searchStatus } = host.script
    if (searchStatus !== undefined) return void response.writeHead(searchStatus).end('{}')
    const base = `http://${request.headers.host}`
    const body = JSON.stringify({
      type: 'FeatureCollection',
      features: found(published, query).map((each) => featureOf(each, base)),
      links: [],
    })
    return void response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  }
  const name = request.url!.slice('/files/'.length)
  const status = host.script.fileStatus[name]
  if (status !== undefined) return void response.writeHead(status).end()
  const file = files.get(name)
  if (!file) return void response.writeHead(404).end()
  await sendFile(host, file, request, response)
}

function found(published: ReadonlyMap<string, PublishedScene>, query: Record<string, unknown>): PublishedScene[] {
  const [from = '..', to = '..'] = String(query['datetime'] ?? '../..').split('/')
  const ids = query['ids'] as string[] | undefined
  return [...published.values()]
    .filter(({ id, datetime }) => (!ids || ids.includes(id)) && (from === '..' || datetime >= from) && (to === '..' || datetime <= to))
    .toSorted((a, b) => (a.datetime < b.datetime ? 1 : -1))
    .slice(0, Number(query['limit']))
}

const featureOf = ({ id, datetime, cloudCover, properties, fields, hrefs }: PublishedScene, base: string) => ({
  type: 'Feature',
  id,
  collection: COLLECTION,
  geometry: FOOTPRINT,
  bbox: [151, -33.2, 151.3, -33],
  properties: { datetime, 'eo:cloud_cover': cloudCover, platform: 'test-1', ...properties },
  links: [
    { rel: 'self', href: `${base}/collections/${COLLECTION}/items/${id}` },
    { rel: 'license', href: 'https://licences.example/cc-by' },
  ],
  assets: Object.fromEntries(
    BANDS.map((band) => [
      band,
      {
        href: hrefs?.[band] ?? `${base}/files/${id}-${band}.tif`,
        type: 'image/tiff; application=geotiff; profile=cloud-optimized',
        roles: ['data'],
        'eo:bands': [{ name: band, common_name: band }],
        ...fields,
      },
    ]),
  ),
})

/** Readers of pixels ask for ranges with an end, copies for all that follows an offset. */
async function sendFile(host: OpenHost, file: Buffer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, first = '0', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
  const end = last === '' ? file.length - 1 : Math.min(Number(last), file.length - 1)
  const part = file.subarray(Number(first), end + 1)
  const headers = { etag: '"1"', 'content-length': part.length, 'accept-ranges': 'bytes' }
  const isWhole = last === ''
  if (isWhole) {
    host.transfers.push(Number(first))
    await host.script.beforeFile?.()
  }
  if (request.headers.range) response.writeHead(206, { ...headers, 'content-range': `bytes ${first}-${end}/${file.length}` })
  else response.writeHead(200, headers)
  const breaksAt = isWhole ? host.script.breaksAt.shift() : undefined
  if (breaksAt === undefined) return void response.end(part)
  response.write(part.subarray(0, breaksAt), () => response.destroy())
}
