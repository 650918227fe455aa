/** Endpoints in a thread of their own: `/hang` never answers, everything else answers at once. Counts and times what comes. */
import { createServer } from 'node:http'
import { parentPort } from 'node:worker_threads'

let count = 0
let waits: number[] = []
const server = createServer((request, response) => {
  let text = ''
  request.on('data', (chunk: Buffer) => (text += chunk.toString()))
  request.on('end', () => {
    if (request.url!.startsWith('/hang')) return
    count++
    const { timestamp } = JSON.parse(text) as { timestamp?: string }
    if (timestamp) waits.push(Date.now() - Date.parse(timestamp))
    response.writeHead(204).end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => parentPort!.postMessage({ port: (server.address() as { port: number }).port }))
parentPort!.on('message', () => {
  const sorted = waits.toSorted((a, b) => a - b)
  parentPort!.postMessage({ count, p95: sorted[Math.floor(sorted.length * 0.95)] ?? 0 })
  waits = []
})
