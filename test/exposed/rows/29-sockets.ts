import assert from 'node:assert/strict'
import net from 'node:net'
import type { ExposedRow } from '../row.ts'

const HALF = 1_000
/** A listener that is blocked never answers; a busy machine only takes longer. */
const GIVE_UP_MS = 600_000

/** The proxy's address is the caller's for sockets, so that the cap is the one of the whole listener. */
export default {
  row: 29,
  async attempt({ service: { baseUrl, storeUrl } }) {
    for (const [url, path] of [
      [baseUrl, '/health'],
      [storeUrl, '/objects/a/b'],
    ] as const) {
      const sockets = Array.from({ length: HALF }, () => {
        const socket = net.connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
        socket.on('error', () => {})
        socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nX-Slow: `)
        return socket
      })
      try {
        const response = await fetch(url + path, { signal: AbortSignal.timeout(GIVE_UP_MS) })
        await response.arrayBuffer()
        assert.ok(response.status < 500, `${url} answered ${response.status} beside ${HALF} half-requests`)
      } finally {
        for (const socket of sockets) socket.destroy()
      }
    }
  },
} satisfies ExposedRow
