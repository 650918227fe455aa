/** Files behind signed links, whole or in part, as all vendors' storages send them. */
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { rangeOf } from './range.ts'

interface SentFile {
  readonly content: Buffer | { readonly path: string; readonly byteLength: number }
  readonly type: string
  /** The connection breaks off halfway. */
  readonly isBroken: boolean
}

export async function sendFile(request: FastifyRequest, reply: FastifyReply, { content, type, isBroken }: SentFile): Promise<FastifyReply> {
  const size = content.byteLength
  const range = rangeOf(request.headers.range, size)
  if (range === 'unsatisfiable') return await reply.status(416).send()
  const { first, last } = range ?? { first: 0, last: size - 1 }
  if (range) reply.status(206).header('content-range', `bytes ${first}-${last}/${size}`)
  const length = last - first + 1
  reply.header('content-length', length).type(type)
  const part = 'path' in content ? createReadStream(content.path, { start: first, end: last }) : content.subarray(first, last + 1)
  if (!isBroken) return await reply.send(part)
  return await reply.send(Readable.from(halfOf(Buffer.isBuffer(part) ? [part] : part, length), { objectMode: false }))
}

async function* halfOf(chunks: Iterable<Buffer> | AsyncIterable<Buffer>, length: number): AsyncGenerator<Buffer> {
  let left = Math.floor(length / 2)
  for await (const chunk of chunks) {
    yield chunk.subarray(0, left)
    left -= chunk.length
    if (left <= 0) throw new Error('Connection lost')
  }
}
