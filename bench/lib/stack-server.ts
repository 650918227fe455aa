/**
 * Serves `/{anything}/{name}.tif` by ranges after a delay, and `/{anything}/item.json` at once, as a process of its own: its CPU is on
 * nobody's account. `/requests` is the number of requests for files. Prints its port; ends with its parent.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { itemAt } from './stack-item.ts'

const [, , folder = '', latency = '0'] = process.argv
const names = readdirSync(folder).filter((name) => name.endsWith('.tif'))
const bytes = new Map(names.map((name) => [name, readFileSync(path.join(folder, name))]))
let requests = 0
const server = createServer((request, response) => {
  if (request.url === '/requests') return response.end(String(requests))
  const [prefix = '', file = ''] = request.url!.slice(1).split('/')
  if (file === 'item.json')
    return response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(itemAt((name) => `http://${request.headers.host}/${prefix}/${name}`, names)))
  const data = bytes.get(file)
  if (!data) return response.writeHead(404).end()
  requests++
  const [, first = '0', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
  const end = Math.min(Number(last || data.length - 1), data.length - 1)
  const part = data.subarray(Number(first), end + 1)
  const head = { 'accept-ranges': 'bytes', etag: `"${request.url}"` }
  const range = { ...head, 'content-range': `bytes ${first}-${end}/${data.length}`, 'content-length': part.length }
  const answer = (): void => {
    if (request.method === 'HEAD') response.writeHead(200, { ...head, 'content-length': data.length }).end()
    else response.writeHead(request.headers.range ? 206 : 200, range).end(part)
  }
  if (Number(latency) > 0) setTimeout(answer, Number(latency))
  else answer()
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit(0))
