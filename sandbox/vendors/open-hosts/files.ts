/** The files of simulated open hosts: COGs whose blocks are computed when they are read, and previews. */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import sharp from 'sharp'
import { LoadingCache } from '#raster/cache.ts'
import type { SceneDescription } from '../../scenes/index.ts'
import type { Library } from '../library.ts'
import type { SceneRenderer } from '../scene-renderer.ts'
import { rangeOf } from '../range.ts'
import { Refusal } from '../search.ts'
import { virtualCog, type VirtualCog } from '../virtual-cog.ts'
import { fileScene, sceneIdOf, type Product, type ProductFile } from './product.ts'

const COG_CACHE_BYTES = 8 * 1024 * 1024
const PREVIEW_PX = 343

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The connection is closed after this many bytes. */
  readonly cutAfterBytes?: number
}

export interface OpenFiles {
  /** Sends a part of a file; `name` is its path below the item's folder. */
  send(product: Product, id: string, name: string, exchange: Exchange): Promise<FastifyReply>
  preview(product: Product, id: string, format: 'png' | 'jpeg', reply: FastifyReply): Promise<FastifyReply>
}

export function createOpenFiles(libraryOf: (product: Product) => Library, renderer: SceneRenderer): OpenFiles {
  const cogs = new LoadingCache<VirtualCog>({ maxBytes: COG_CACHE_BYTES, sizeOf: () => 400_000 })
  const sceneOf = (product: Product, id: string): SceneDescription => {
    const inner = sceneIdOf(product, id)
    const scene = inner === null ? null : libraryOf(product).scene(inner)
    if (!scene) throw new Refusal('The specified blob does not exist', 404)
    return scene
  }
  return {
    async send(product, id, name, { request, reply, cutAfterBytes = Infinity }) {
      const file = product.files.find((each) => each.name === name)
      if (!file) throw new Refusal('The specified blob does not exist', 404)
      const scene = fileScene(sceneOf(product, id), file)
      const cog = await cogs.get(`${product.collection}/${scene.id}`, async () => virtualCog(scene))
      const range = rangeOf(request.headers.range, cog.byteLength)
      reply.header('etag', `"${scene.id}"`).header('accept-ranges', 'bytes').type('image/tiff')
      if (range === 'unsatisfiable') return reply.status(416).header('content-range', `bytes */${cog.byteLength}`).send()
      const { first, last } = range ?? { first: 0, last: cog.byteLength - 1 }
      if (range) reply.status(206).header('content-range', `bytes ${first}-${last}/${cog.byteLength}`)
      reply.header('content-length', last - first + 1)
      const gone = new AbortController()
      reply.raw.on('close', () => gone.abort())
      const bytes = cog.read(first, last, async (block) => stored(await renderer.block(scene, block, gone.signal), file))
      return reply.send(Readable.from(cut(bytes, cutAfterBytes), { objectMode: false }))
    },
    async preview(product, id, format, reply) {
      const png = await renderer.picture(sceneOf(product, id), PREVIEW_PX)
      const bytes = format === 'png' ? Buffer.from(png) : await sharp(png).flatten().jpeg().toBuffer()
      return reply.type(`image/${format}`).send(bytes)
    },
  }
}

async function* cut(bytes: AsyncIterable<Uint8Array>, afterBytes: number): AsyncGenerator<Uint8Array> {
  let left = afterBytes
  for await (const part of bytes) {
    yield part.subarray(0, left)
    left -= part.byteLength
    if (left <= 0) throw new Error('The connection broke off')
  }
}

/** Samples as the host stores them; a copy, because the renderer caches its own. */
function stored(bytes: Uint8Array, { store }: ProductFile): Uint8Array {
  if (!store) return bytes
  const samples = new Uint16Array(bytes.slice().buffer)
  for (let i = 0; i < samples.length; i++) if (samples[i] !== 0) samples[i] = store(samples[i]!)
  return new Uint8Array(samples.buffer)
}
