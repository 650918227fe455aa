/** An endpoint of webhooks that keeps what it gets and answers as it is told. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  text: string
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
}

type Answering = (received: Received, response: ServerResponse) => void

export async function receiver(t: Pick<TestContext, 'after'>, answer: Answering = (_received, response) => response.writeHead(204).end()) {
  const received: Received[] = []
  let answering = answer
  let connections = 0
  const waiting: { count: number; resolve: () => void }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const got = { path: request.url!, headers: request.headers, text, body: text ? JSON.parse(text) : null }
      received.push(got)
      for (const wait of waiting) if (received.length >= wait.count) wait.resolve()
      answering(got, response)
    })
  })
  server.keepAliveTimeout = 60_000
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  t.after(close)
  return {
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}/hook`,
    received,
    connections: () => connections,
    answer(next: Answering) {
      answering = next
    },
    /** Until so many have come in all. */
    until: (count: number) =>
      received.length >= count ? Promise.resolve() : new Promise<void>((resolve) => waiting.push({ count, resolve })),
    close,
  }
}
