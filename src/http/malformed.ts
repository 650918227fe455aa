/** Malformed requests never reach a route: they get a problem response, and the connection is closed. */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { closeWith } from '#core/connections.ts'

interface Refusal {
  status: number
  detail: string
  code: string
}

const UNREADABLE: Refusal = { status: 400, detail: 'Malformed HTTP request', code: 'bad-request' }
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const UNKNOWN_METHOD: Refusal = {
  status: 405,
  detail: `Unknown method; use one of ${METHODS}`,
  code: 'method-not-allowed',
}
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { ...UNREADABLE, status: 431, detail: 'The request headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { ...UNREADABLE, status: 408, detail: 'The request took too long to arrive' },
}

/** The parser stops at an unknown method. If the rest of the line is a valid request line, it was a method and not noise. */
const REQUEST_LINE = /^[A-Z][A-Z-]{0,30} \S{1,8000} HTTP\/1\.[01]\r?\n/
const LINE_BYTES = 8_192

interface Malformed {
  code?: string
  /** The bytes being parsed: a buffer, although it is not declared as one. */
  rawPacket?: unknown
}

function refusalOf({ code, rawPacket }: Malformed): Refusal {
  const line = Buffer.isBuffer(rawPacket) ? rawPacket.subarray(0, LINE_BYTES).toString('latin1') : ''
  if (code === 'HPE_INVALID_METHOD' && REQUEST_LINE.test(line)) return UNKNOWN_METHOD
  return REFUSALS[code ?? ''] ?? UNREADABLE
}

export function refuseMalformed(error: Malformed, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy()
  const { status, detail, code } = refusalOf(error)
  const title = STATUS_CODES[status]!
  const body = JSON.stringify({ type: 'about:blank', title, status, detail, code })
  closeWith(
    socket,
    `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `${status === 405 ? `Allow: ${METHODS}\r\n` : ''}Connection: close\r\n\r\n${body}`,
  )
}
