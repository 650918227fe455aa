/**
 * Goal: bytes over HTTP are the bytes asked for of one version of one file, or a typed error: servers
 * that ignore ranges, lie about them, change the file, hang, or never end cost neither memory nor time.
 */
import assert from 'node:assert/strict'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { coalesced } from '#raster/source/coalesce.ts'
import { openHttpSource, type HttpFetch, type HttpSourceOptions } from '#raster/source/http.ts'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { RasterError, type Source } from '#raster/types.ts'
import { writeCog } from '#raster/write/cog.ts'
import { memorySink } from '#raster/write/sink.ts'

const content = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 31 + (i >> 8)) & 255)

interface Seen {
  readonly ranges: string[]
  readonly headers: IncomingMessage['headers'][]
}

type Handler = (incoming: IncomingMessage, response: ServerResponse, range: { start: number; end: number }) => void

const servers: { close(): void; closeAllConnections(): void }[] = []
after(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

async function serve(handler: Handler): Promise<{ url: string; seen: Seen }> {
  const seen: Seen = { ranges: [], headers: [] }
  const server = createServer((incoming, response) => {
    const range = String(incoming.headers.range)
    seen.ranges.push(range)
    seen.headers.push(incoming.headers)
    const [, start = '0', end = '0'] = /bytes=(\d+)-(\d+)/.exec(range) ?? []
    handler(incoming, response, { start: Number(start), end: Number(end) })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.tif`, seen }
}

/** Stands for the platform's guarded client. */
const plainFetch: HttpFetch = (url, init) =>
  new Promise((resolve, reject) => {
    const outgoing = request(url, { headers: init.headers, signal: init.signal }, (response) => {
      const get = (name: string): string | null => response.headers[name]?.toString() ?? null
      resolve({ status: response.statusCode ?? 0, headers: { get }, body: response })
    })
    outgoing.on('error', reject)
    outgoing.end()
  })

function honest(response: ServerResponse, range: { start: number; end: number }, headers: Record<string, string> = {}): void {
  const body = content.subarray(range.start, range.end + 1)
  response.writeHead(206, {
    'content-range': `bytes ${range.start}-${range.start + body.length - 1}/${content.length}`,
    'content-length': body.length,
    etag: '"v1"',
    ...headers,
  })
  response.end(body)
}

const open = (url: string, options: Partial<HttpSourceOptions> = {}): Promise<Source> =>
  openHttpSource(url, { fetch: plainFetch, headerBytes: 1000, ...options })
const rejectsWith = (work: Promise<unknown>, code: string): Promise<void> =>
  assert.rejects(work, (error) => error instanceof RasterError && error.code === code)

test('an honest server is read exactly; the header comes with the first request', async () => {
  const { url, seen } = await serve((_, response, range) => honest(response, range))
  const source = await open(url)
  assert.equal(source.size, content.length)
  assert.equal(source.etag, '"v1"')
  assert.deepEqual(await source.fetch(10, 20), content.subarray(10, 30))
  assert.equal(seen.ranges.length, 1)
  assert.deepEqual(await source.fetch(5000, 7), content.subarray(5000, 5007))
  assert.deepEqual(await source.fetch(content.length - 3, 3), content.subarray(-3))
  assert.equal(seen.headers[1]?.['if-match'], '"v1"')
  assert.equal(seen.headers[1]?.['accept-encoding'], 'identity')
})

test('ranges asked for together travel together', async () => {
  const { url, seen } = await serve((_, response, range) => honest(response, range))
  const source = await open(url)
  const ranges = [
    [20_000, 5000],
    [25_000, 3000],
    [30_000, 4000],
    [250_000, 9000],
  ] as const
  const parts = await Promise.all(ranges.map(([offset, length]) => source.fetch(offset, length)))
  assert.deepEqual(
    parts,
    ranges.map(([offset, length]) => content.subarray(offset, offset + length)),
  )
  assert.deepEqual(seen.ranges.slice(1), ['bytes=20000-33999', 'bytes=250000-258999'])
})

test('small reads near each other share one page', async () => {
  const { url, seen } = await serve((_, response, range) => honest(response, range))
  const source = await open(url)
  for (let offset = 200_000; offset < 200_500; offset += 12)
    assert.deepEqual(await source.fetch(offset, 12), content.subarray(offset, offset + 12))
  assert.equal(seen.ranges.length, 2)
})

test('one caller that gives up does not take the bytes from the others', async () => {
  const inner = memorySource(content)
  const source = coalesced(inner)
  const controller = new AbortController()
  const given = source.fetch(0, 10, controller.signal)
  const kept = source.fetch(10, 10)
  controller.abort()
  await rejectsWith(given, 'aborted')
  assert.deepEqual(await kept, content.subarray(10, 20))
})

test('ranges outside the file are refused without a request', async () => {
  const { url, seen } = await serve((_, response, range) => honest(response, range))
  const source = await open(url)
  await rejectsWith(source.fetch(content.length - 1, 2), 'corrupt')
  await rejectsWith(source.fetch(-1, 2), 'corrupt')
  await rejectsWith(source.fetch(0, Number.NaN), 'corrupt')
  assert.equal(seen.ranges.length, 1)
})

test('a file that changes is an error, whether the server says 412 or serves the new one', async () => {
  let version = 1
  const polite = await serve((incoming, response, range) => {
    if (incoming.headers['if-match'] && incoming.headers['if-match'] !== `"v${version}"`) response.writeHead(412).end()
    else honest(response, range, { etag: `"v${version}"` })
  })
  const careless = await serve((_, response, range) => honest(response, range, { etag: `"v${version}"` }))
  const sources = await Promise.all([open(polite.url), open(careless.url)])
  version = 2
  for (const source of sources) await rejectsWith(source.fetch(5000, 10), 'source_changed')
})

test('servers that ignore ranges, lie about them or compress', async () => {
  const liars: Handler[] = [
    (_, response) => response.writeHead(200, { 'content-length': content.length }).end(content),
    (_, response) => response.writeHead(500).end(),
    (_, response) => response.writeHead(206).end('no content-range'),
    (_, response, { start, end }) =>
      response.writeHead(206, { 'content-range': `bytes ${start + 1}-${end + 1}/${content.length}` }).end(content.subarray(start, end + 1)),
    (_, response, { start, end }) =>
      response.writeHead(206, { 'content-range': `bytes ${start}-${end}/${content.length}` }).end(content.subarray(start, end)),
    (_, response, { start, end }) =>
      response.writeHead(206, { 'content-range': `bytes ${start}-${end}/${content.length}` }).end(content.subarray(start, end + 5)),
    (_, response, range) => honest(response, range, { 'content-encoding': 'gzip' }),
    (_, response, { start, end }) => response.writeHead(206, { 'content-range': `bytes ${start}-${end}/99999999999999999999` }).end(),
    (_, response) => response.destroy(),
  ]
  for (const [index, liar] of liars.entries()) {
    const { url } = await serve(liar)
    await assert.rejects(open(url), (error) => error instanceof RasterError && error.code === 'source_unavailable', `liar ${index}`)
  }
})

test('an address without a file is a mistake of whoever wrote it, and an empty file is no TIFF', async () => {
  for (const status of [401, 403, 404, 410]) {
    const { url } = await serve((_, response) => response.writeHead(status).end())
    await rejectsWith(open(url), 'invalid_argument')
  }
  const empty = await serve((_, response) => response.writeHead(416, { 'content-range': 'bytes */0' }).end())
  await rejectsWith(open(empty.url), 'not_a_tiff')
  const alsoEmpty = await serve((_, response) => response.writeHead(200, { 'content-length': 0 }).end())
  await rejectsWith(open(alsoEmpty.url), 'not_a_tiff')
  const impossible = await serve((_, response) => response.writeHead(416, { 'content-range': 'bytes */999' }).end())
  await rejectsWith(open(impossible.url), 'source_unavailable')
})

test('a body that never ends is cut at the first byte too many', async () => {
  let sent = 0
  const { url } = await serve((_, response, { start, end }) => {
    response.writeHead(206, { 'content-range': `bytes ${start}-${end}/${content.length}` })
    const more = (): void => {
      while (!response.destroyed && sent < 1e9) {
        sent += 65_536
        if (!response.write(content.subarray(0, 65_536))) break
      }
    }
    response.on('drain', more)
    more()
  })
  await rejectsWith(open(url), 'source_unavailable')
  assert.ok(sent < 64e6, `${sent} bytes were sent`)
})

test('a server that hangs ends at the deadline, also for a client that ignores its signal', async () => {
  const { url } = await serve((_, response) => response.writeHead(206, { 'content-range': `bytes 0-999/${content.length}` }).write('x'))
  await rejectsWith(open(url, { deadlineMs: 60 }), 'source_unavailable')
  await rejectsWith(open(url, { deadlineMs: 60, fetch: () => new Promise(() => undefined) }), 'source_unavailable')
})

test('a caller that gives up gets its own error', async () => {
  const { url } = await serve(() => undefined)
  const controller = new AbortController()
  const work = open(url, { signal: controller.signal })
  controller.abort()
  await rejectsWith(work, 'aborted')
})

test('a range larger than the cap is refused', async () => {
  const { url } = await serve((_, response, range) => honest(response, range))
  const source = await open(url, { maxRangeBytes: 10_000 })
  await rejectsWith(source.fetch(2000, 20_000), 'limit_exceeded')
})

test('a COG is opened with one request, and a block costs one more', async () => {
  const width = 1200
  const sink = memorySink()
  const samples = Uint16Array.from({ length: width * 256 }, (_, i) => Math.imul(i, 2_654_435_761) >>> 16)
  await writeCog(sink, { width, height: width, dataType: 'uint16', bandCount: 1 }, async (_, rows) => ({
    width,
    height: rows,
    bands: [0],
    data: [samples],
    starts: [0],
    stride: 1,
    mask: null,
    byteLength: samples.byteLength,
  }))
  const file = sink.bytes()
  const { url, seen } = await serve((_, response, { start, end }) => {
    response.writeHead(206, { 'content-range': `bytes ${start}-${end}/${file.length}`, etag: '"cog"' }).end(file.subarray(start, end + 1))
  })
  const raster = await openTiff(await open(url, { headerBytes: 16_384 }))
  assert.equal(raster.info.levels.length, 4)
  assert.equal(seen.ranges.length, 1)
  const [left, right] = await Promise.all([raster.readBlock(0, 1, 1), raster.readBlock(0, 2, 1)])
  assert.equal(seen.ranges.length, 2)
  assert.equal(left.data[0]?.[0], samples[256])
  assert.equal(right.data[0]?.[0], samples[512])
})
