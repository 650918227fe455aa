/** Endpoints in a thread of their own: `/hang` answers when it is released, everything else at once. Counts and times what comes. */
import { createServer, type ServerResponse } from 'node:http'
import { parentPort } from 'node:worker_threads'

let count = 0
let waits: number[] = []
let hung: ServerResponse[] = []
const server = createServer((request, response) => {
  let text = ''
  request.on('data', (chunk: Buffer) => (text += chunk.toString()))
  request.on('end', () => {
    if (request.url!.startsWith('/hang')) return void hung.push(response)
    count++
    const { timestamp } = JSON.parse(text) as { timestamp?: string }
    if (timestamp) waits.push(Date.now() - Date.parse(timestamp))
    response.writeHead(204).end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => parentPort!.postMessage({ port: (server.address() as { port: number }).port }))
parentPort!.on('message', (message: 'count' | 'release') => {
  if (message === 'count') {
    parentPort!.postMessage({ count, waits })
    waits = []
  } else {
    for (const response of hung) response.writeHead(204).end()
    hung = []
  }
})
