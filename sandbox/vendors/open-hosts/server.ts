/**
 * Earth Search, the Planetary Computer and the Copernicus Data Space as one HTTP server on loopback: their real protocols and
 * item documents, with simulated scenes. Files in Azure storage have the addresses of the storage emulator, with the account in the path.
 */
import type { AddressInfo } from 'node:net'
import { readFile } from 'node:fs/promises'
import fastify, { type FastifyInstance } from 'fastify'
import type { Clock } from '#core/clock.ts'
import type { SensorId } from '../../scenes/index.ts'
import { CDSE_PRODUCTS } from '../cdse/products.ts'
import { EARTH_SEARCH_BUCKETS } from '../earth-search/products.ts'
import { HOSTS, type SandboxHost } from '../hosts.ts'
import { Library } from '../library.ts'
import { CONTAINERS } from '../planetary-computer/products.ts'
import { serveSas, type Sas } from '../planetary-computer/sas.ts'
import { openSceneRenderer } from '../scene-renderer.ts'
import { Refusal } from '../search.ts'
import { createOpenFiles, type OpenFiles } from './files.ts'
import type { Product } from './product.ts'
import { serveStacApi, type StacApi } from './stac-api.ts'

interface OpenHostsOptions {
  readonly clock: Clock
  /** Folder for rendered files. */
  readonly workDir: string
  readonly port?: number
}

/** What goes wrong with files in Azure storage. */
interface Faults {
  /** Called for each request that is permitted; `range` is its header. */
  onRead?: (url: string, range: string | undefined) => void
  /** The next file that is requested from its start to its end breaks off after this many bytes. */
  cutAfterBytes?: number | undefined
}

export interface OpenHosts {
  readonly url: string
  readonly sas: Sas
  /** URLs of files that were requested, with their signature. */
  readonly reads: string[]
  readonly faults: Faults
  /** A file for SOURCES: the shipped registry, with these hosts instead of the real ones, and no others. */
  registryFile(): Promise<string>
  close(): Promise<void>
}

const HOST = '127.0.0.1'
const SAS_PATH = '/planetary-computer/api/sas/v1/token'
const MAX_READS = 10_000

const APIS: readonly StacApi[] = [
  {
    prefix: '/earth-search/v1',
    title: 'Earth Search by Element 84',
    stacVersion: '1.0.0',
    products: Object.values(EARTH_SEARCH_BUCKETS),
    maxLimit: 500,
    cursor: { field: 'next', prefix: '' },
  },
  {
    prefix: '/planetary-computer/api/stac/v1',
    title: 'Microsoft Planetary Computer STAC API',
    stacVersion: '1.0.0',
    products: Object.values(CONTAINERS),
    maxLimit: 1_000,
    cursor: { field: 'token', prefix: 'next:' },
  },
  {
    prefix: '/cdse/v1',
    title: 'Copernicus Data Space Ecosystem',
    stacVersion: '1.1.0',
    products: CDSE_PRODUCTS,
    maxLimit: 1_000,
    cursor: { field: 'token', prefix: 'next:' },
  },
]

export async function startOpenHosts({ clock, workDir, port = 0 }: OpenHostsOptions): Promise<OpenHosts> {
  const renderer = openSceneRenderer(workDir)
  const libraries = new Map<string, Library>()
  const libraryOf = ({ sensor }: Product): Library => {
    const known = libraries.get(sensor) ?? new Library(hostOf(sensor), () => clock.now())
    libraries.set(sensor, known)
    return known
  }
  const files = createOpenFiles(libraryOf, renderer)
  const app = fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 300 } })
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof Refusal ? error.status : ((error as { statusCode?: number }).statusCode ?? 500)
    void reply.status(status).send({ code: String(status), description: status < 500 ? (error as Error).message : 'Internal error' })
  })
  let url = ''
  const reads: string[] = []
  const faults: Faults = {}
  for (const api of APIS) serveStacApi(app, api, { libraryOf, base: () => url })
  const sas = serveSas(app, SAS_PATH, Object.keys(CONTAINERS), clock)

  type FileRoute = { Params: { bucket: string; id: string; name: string } }
  app.get<FileRoute>('/buckets/:bucket/:id/:name', async (request, reply) => {
    const { bucket, id, name } = request.params
    const product = EARTH_SEARCH_BUCKETS[bucket]
    if (!product) throw new Refusal('NoSuchBucket', 404)
    return await files.send(product, id, name, { request, reply })
  })
  app.get<FileRoute>('/thumbnails/:bucket/:name', async (request, reply) => {
    const { bucket, name } = request.params
    const product = bucket === 'cdse' ? CDSE_PRODUCTS[0] : EARTH_SEARCH_BUCKETS[bucket]
    if (!product) throw new Refusal('NoSuchBucket', 404)
    return await files.preview(product, name.replace(/\.jpg$/, ''), 'jpeg', reply)
  })
  app.get<{ Querystring: { collection: string; item: string } }>(
    '/planetary-computer/api/data/v1/item/preview.png',
    async ({ query }, reply) => {
      const product = Object.values(CONTAINERS).find(({ collection }) => collection === query.collection)
      if (!product) throw new Refusal('No such collection', 404)
      return await files.preview(product, query.item, 'png', reply)
    },
  )
  serveStorage(app, { files, sas, reads, faults })
  await app.listen({ host: HOST, port })
  url = `http://${HOST}:${(app.server.address() as AddressInfo).port}`
  return {
    url,
    sas,
    reads,
    faults,
    registryFile: () => registryAt(url),
    async close() {
      await app.close()
      await renderer.close()
    },
  }
}

interface Storage {
  readonly files: OpenFiles
  readonly sas: Sas
  readonly reads: string[]
  readonly faults: Faults
}

/** Azure storage, whose files can only be read with a token. */
function serveStorage(app: FastifyInstance, { files, sas, reads, faults }: Storage): void {
  app.get<{ Params: { account: string; container: string; id: string; name: string } }>(
    '/:account/:container/:id/:name',
    async (request, reply) => {
      const { account, container, id, name } = request.params
      const product = CONTAINERS[`${account}/${container}`]
      if (!product) throw new Refusal('The specified resource does not exist', 404)
      if (reads.length < MAX_READS) reads.push(request.url)
      const { searchParams } = new URL(request.url, `http://${HOST}`)
      // As the storage says it: no token at all is another error than a wrong or expired one.
      if (!searchParams.has('sig')) throw new Refusal('Public access is not permitted on this storage account', 409)
      const refusal = sas.refusal(`${account}/${container}`, searchParams)
      if (refusal !== null) throw new Refusal(`Server failed to authenticate the request: ${refusal}`, 403)
      faults.onRead?.(request.url, request.headers.range)
      const { cutAfterBytes } = faults
      if (request.headers.range !== undefined || cutAfterBytes === undefined) return await files.send(product, id, name, { request, reply })
      faults.cutAfterBytes = undefined
      return await files.send(product, id, name, { request, reply, cutAfterBytes })
    },
  )
}

const hostOf = (sensor: SensorId): SandboxHost & { sensor: SensorId } => ({
  ...HOSTS.find((host) => host.name === sensor)!,
  name: sensor,
  sensor,
})

const URLS: Readonly<Record<string, string>> = {
  'earth-search': '/earth-search/v1',
  'planetary-computer': '/planetary-computer/api/stac/v1',
  cdse: '/cdse/v1',
}

interface Entry {
  hostName: string
  fileHosts: string[]
  rewrite?: Record<string, string>
  services?: { sas: { url: string } }
}

async function registryAt(url: string): Promise<string> {
  const file = JSON.parse(await readFile(new URL('../../../src/adapters/vendors/registry.json', import.meta.url), 'utf8')) as {
    sources: Entry[]
  }
  const sources = file.sources
    .filter(({ hostName }) => URLS[hostName] !== undefined)
    .map((entry) => ({
      ...entry,
      url: `${url}${URLS[entry.hostName]}`,
      fileHosts: entry.fileHosts.length > 0 ? [new URL(url).host] : [],
      ...(entry.rewrite ? { rewrite: Object.fromEntries(Object.keys(entry.rewrite).map((from) => [from, bucketUrl(from, url)])) } : {}),
      ...(entry.services ? { services: { sas: { ...entry.services.sas, url: `${url}${SAS_PATH}` } } } : {}),
    }))
  return JSON.stringify({ ...file, sources })
}

const bucketUrl = (prefix: string, url: string): string => `${url}/buckets/${prefix.replace(/^s3:\/\//, '')}`
