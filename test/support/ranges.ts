/** A small HTTP server for files in memory that serves ranges, on loopback: what a host of COGs looks like from outside. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

interface FileHost {
  host: string
  url(name: string): string
  put(name: string, bytes: Uint8Array): void
  /** Requests so far. */
  requests(): number
  connections(): number
}

export async function fileHost(t: TestContext): Promise<FileHost> {
  const files = new Map<string, { bytes: Buffer; etag: string }>()
  let [count, connections] = [0, 0]
  const server = createServer((request, response) => {
    count++
    if (request.url!.includes('?se=')) return response.writeHead(403).end() // Signatures here have all expired.
    const file = files.get(decodeURIComponent(request.url!.slice(1)))
    if (!file) return response.writeHead(404).end()
    const match = request.headers['if-match']
    if (match && match !== file.etag) return response.writeHead(412).end()
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    if (first === undefined) return response.writeHead(200, { etag: file.etag, 'content-length': file.bytes.length }).end(file.bytes)
    const end = Math.min(Number(last), file.bytes.length - 1)
    const part = file.bytes.subarray(Number(first), end + 1)
    response
      .writeHead(206, { etag: file.etag, 'content-range': `bytes ${first}-${end}/${file.bytes.length}`, 'content-length': part.length })
      .end(part)
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  let version = 0
  return {
    host,
    url: (name) => `http://${host}/${name}`,
    put: (name, bytes) => {
      files.set(name, { bytes: Buffer.from(bytes), etag: `"v${++version}"` })
    },
    requests: () => count,
    connections: () => connections,
  }
}
