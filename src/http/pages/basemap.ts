/** The offline base map and the gazetteer, which ship with the platform: tiles by their place, and places by the start of a name. */
import { open, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress, gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { PMTiles, type RangeResponse, type Source } from 'pmtiles'
import { problem } from '#core/problem.ts'
import { createGazetteer, type Gazetteer } from './gazetteer.ts'

const folder = path.join(import.meta.dirname, 'basemap')
const DAY_SECONDS = 86_400
const SETS: Readonly<Record<string, { file: string; type: string; isPacked: boolean }>> = {
  world: { file: 'world.pmtiles', type: 'application/vnd.mapbox-vector-tile', isPacked: true },
  relief: { file: 'relief.pmtiles', type: 'image/webp', isPacked: false },
}
const TILE = /^(\d{1,2})\/(\d{1,3})\/(\d{1,3})$/
const MAX_QUERY = 100
const MAX_RESULTS = 8

interface TileParams {
  Params: { set: string; '*': string }
}

export function registerBasemap(app: FastifyInstance): void {
  const sets = new Map(
    Object.entries(SETS).map(([name, set]) => [name, { ...set, tiles: new PMTiles(fileSource(path.join(folder, set.file))) }]),
  )
  let gazetteer: Promise<Gazetteer> | undefined
  app.get<TileParams>('/assets/basemap/:set/*', async ({ params, headers }, reply) => {
    const set = sets.get(params.set)
    const [, z, x, y] = TILE.exec(params['*']) ?? []
    if (!set || !z || !x || !y) throw problem('not-found', 'No such tile of the base map')
    const tile = await set.tiles.getZxy(Number(z), Number(x), Number(y))
    reply.header('Cache-Control', `public, max-age=${DAY_SECONDS}`)
    if (!tile) return await reply.code(204).send()
    reply.type(set.type)
    if (!set.isPacked || !/\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))) return await reply.send(Buffer.from(tile.data))
    return await reply.headers({ 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' }).send(await promisify(gzip)(tile.data))
  })
  app.get<{ Querystring: { q?: string } }>('/assets/places', async ({ query }, reply) => {
    gazetteer ??= loadGazetteer()
    const text = String(query.q ?? '').slice(0, MAX_QUERY)
    return await reply
      .header('Cache-Control', `public, max-age=${DAY_SECONDS}`)
      .send({ places: (await gazetteer).search(text, MAX_RESULTS) })
  })
}

async function loadGazetteer(): Promise<Gazetteer> {
  const packed = await readFile(path.join(folder, 'places.tsv.br'))
  return await createGazetteer((await promisify(brotliDecompress)(packed)).toString('utf8'))
}

/** Opened for each read, which the cache of directories makes rare enough. */
function fileSource(file: string): Source {
  return {
    getKey: () => file,
    async getBytes(offset, length): Promise<RangeResponse> {
      const handle = await open(file)
      try {
        const { buffer, bytesRead } = await handle.read(new Uint8Array(length), 0, length, offset)
        return { data: buffer.buffer.slice(0, bytesRead) }
      } finally {
        await handle.close()
      }
    },
  }
}
