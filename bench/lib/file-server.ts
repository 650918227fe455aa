/** Files behind addresses on this machine, in ranges, as an object store serves them. */
import { open, type FileHandle } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface FileServer {
  /** `host:port`, as EGRESS_ALLOW names it. */
  host: string
  close(): Promise<void>
}

interface OpenFile {
  handle: FileHandle
  size: number
}

/** Every path that `fileOf` knows is a content of its own with its own entity tag, even where two are the same bytes. */
export async function serveFiles(fileOf: (path: string) => string | undefined): Promise<FileServer> {
  const files = new Map<string, Promise<OpenFile>>()
  const opened = (file: string): Promise<OpenFile> => {
    const known = files.get(file) ?? open(file).then(async (handle) => ({ handle, size: (await handle.stat()).size }))
    files.set(file, known)
    return known
  }
  const server = createServer((asked, response) => {
    const path = asked.url ?? '/'
    const file = fileOf(path)
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(asked.headers.range ?? '') ?? []
    if (file === undefined || first === undefined) {
      response.writeHead(file === undefined ? 404 : 400).end()
      return
    }
    void opened(file).then(async ({ handle, size }) => {
      const from = Number(first)
      const end = Math.min(Number(last) + 1, size)
      const bytes = Buffer.allocUnsafe(Math.max(0, end - from))
      await handle.read(bytes, 0, bytes.length, from)
      response.writeHead(206, { etag: `"${path}"`, 'content-range': `bytes ${from}-${end - 1}/${size}`, 'content-length': bytes.length })
      response.end(bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      for (const file of files.values()) await (await file).handle.close()
    },
  }
}
