/** A client of FastCGI, as small as a bench needs: one request a connection, as a web server without keep-alive makes it. */
import { connect } from 'node:net'

const VERSION = 1
const RECORD = { begin: 1, end: 3, params: 4, stdin: 5, stdout: 6, stderr: 7 } as const
const RESPONDER = 1
const REQUEST_ID = 1
const HEADER_BYTES = 8
/** A name or a value longer than this is written with four bytes for its length. */
const SHORT_LENGTH = 127
const HEADERS_END = '\r\n\r\n'

/** What the program printed after its own headers. */
export function askFastcgi(socket: string, query: string): Promise<Buffer> {
  const params = Object.entries({
    REQUEST_METHOD: 'GET',
    QUERY_STRING: query,
    SERVER_NAME: 'localhost',
    SERVER_PORT: '80',
    SCRIPT_NAME: '/',
  })
  const request = Buffer.concat([
    record(RECORD.begin, Buffer.from([0, RESPONDER, 0, 0, 0, 0, 0, 0])),
    record(RECORD.params, Buffer.concat(params.map(([name, value]) => pair(name, value)))),
    record(RECORD.params, Buffer.alloc(0)),
    record(RECORD.stdin, Buffer.alloc(0)),
  ])
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const connection = connect(socket)
    connection.on('data', (chunk: Buffer) => chunks.push(chunk))
    connection.on('error', reject)
    connection.on('end', () => {
      const printed = outputOf(Buffer.concat(chunks))
      const at = printed.indexOf(HEADERS_END)
      const head = printed.subarray(0, at).toString('latin1')
      if (at < 0 || !/^Content-Type: image\//im.test(head))
        reject(new Error(`FastCGI answered: ${printed.subarray(0, 500).toString('latin1')}`))
      else resolve(printed.subarray(at + HEADERS_END.length))
    })
    connection.end(request)
  })
}

function record(type: number, content: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt8(VERSION, 0)
  header.writeUInt8(type, 1)
  header.writeUInt16BE(REQUEST_ID, 2)
  header.writeUInt16BE(content.length, 4)
  return Buffer.concat([header, content])
}

function pair(name: string, value: string): Buffer {
  return Buffer.concat([lengthOf(name), lengthOf(value), Buffer.from(name + value, 'latin1')])
}

function lengthOf({ length }: string): Buffer {
  if (length <= SHORT_LENGTH) return Buffer.from([length])
  const four = Buffer.alloc(4)
  four.writeUInt32BE(length + 2 ** 31)
  return four
}

/** The contents of all records of standard output, one after the other. */
function outputOf(answer: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at + HEADER_BYTES <= answer.length;) {
    const length = answer.readUInt16BE(at + 4)
    const padding = answer.readUInt8(at + 6)
    const content = answer.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length)
    if (answer.readUInt8(at + 1) === RECORD.stdout) parts.push(content)
    at += HEADER_BYTES + length + padding
  }
  return Buffer.concat(parts)
}
