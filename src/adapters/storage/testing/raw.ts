/** HTTP over raw sockets: requests that a well-behaved client would not send, and connections that break on command. */
import { connect, type Socket } from 'node:net'

interface RawAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

export interface RawRequest {
  method?: string
  /** Sent as is. */
  target: string
  headers?: Record<string, string> | readonly (readonly [string, string])[]
  body?: Uint8Array
}

export function requestHead({ method = 'GET', target, headers = {}, body }: RawRequest, length = body?.length): string {
  const given = Array.isArray(headers) ? (headers as [string, string][]) : Object.entries(headers)
  const hasLength = given.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name))
  const lines = [
    ['Host', 'store.test'],
    ['Connection', 'close'],
    ...given,
    ...(length === undefined || hasLength ? [] : [['Content-Length', String(length)]]),
  ]
  return `${method} ${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

/** One request on its own connection, until its response. A connection that dies without one has status 0. */
export async function raw(port: number, request: RawRequest): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1')
  const answer = readAnswer(socket, request.method === 'HEAD')
  socket.write(Buffer.from(requestHead(request), 'latin1'))
  if (request.body) socket.write(request.body)
  return await answer
}

export function readAnswer(socket: Socket, isHead = false): Promise<RawAnswer> {
  let bytes = Buffer.alloc(0)
  return new Promise((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      const { status, headers, body } = parseAnswer(bytes)
      const isWhole = status >= 200 && (isHead || status === 204 || status === 304 || body.length === Number(headers['content-length']))
      if (isWhole) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(parseAnswer(bytes)))
  })
}

/** Opens an upload, sends its head and the first bytes of its body, and returns the connection. */
export async function beginUpload(port: number, request: RawRequest & { length: number }, first: Uint8Array): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(Buffer.from(requestHead({ method: 'PUT', ...request }, request.length), 'latin1'))
  await new Promise<void>((resolve) => {
    socket.write(first, () => resolve())
  })
  return socket
}

function parseAnswer(bytes: Buffer): RawAnswer {
  const text = bytes.toString('latin1')
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return { status: 0, headers: {}, body: bytes }
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  return { status: Number(first.split(' ')[1]), headers, body: bytes.subarray(end + 4) }
}
