/** Sends a given number of requests over kept connections and prints what it saw. Loopback only; the count bounds it. */
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

interface Target {
  url: string
  credential: string
  body: string
  /** Every answer must be this one. */
  expected: string
  requests: number
  connections: number
}

const target = JSON.parse(await text(process.stdin)) as Target
const url = new URL(target.url)
if (url.hostname !== '127.0.0.1') throw new Error('the load generator only talks to 127.0.0.1')
const agent = new Agent({ keepAlive: true, maxSockets: target.connections })
const headers = {
  'content-type': 'application/json',
  'content-length': Buffer.byteLength(target.body),
  authorization: `Bearer ${target.credential}`,
}
const latencies: number[] = []
let left = target.requests

function send(): Promise<void> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        latencies.push(performance.now() - began)
        const body = Buffer.concat(chunks).toString()
        if (response.statusCode !== 200 || body !== target.expected) reject(new Error(`${response.statusCode} ${body}`))
        else resolve()
      })
    })
    sent.on('error', reject)
    sent.end(target.body)
  })
}

const began = performance.now()
await Promise.all(
  Array.from({ length: target.connections }, async () => {
    while (left-- > 0) await send()
  }),
)
const seconds = (performance.now() - began) / 1000
agent.destroy()
latencies.sort((a, b) => a - b)
const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))]!
console.log(JSON.stringify({ perSecond: target.requests / seconds, p50: at(0.5), p99: at(0.99) }))
