/** A real mail server that keeps what it gets. */
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { SMTPServer } from 'smtp-server'

export interface Mailed {
  to: string[]
  raw: string
  /** Header lines, unfolded, by lower-case name. */
  headers: Map<string, string>
  text: string
  html: string
}

export async function mailServer(t: TestContext) {
  const mails: Mailed[] = []
  let isRefusing = false
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        if (isRefusing) return done(new Error('not now'))
        mails.push(
          read(
            Buffer.concat(chunks).toString(),
            session.envelope.rcptTo.map(({ address }) => address),
          ),
        )
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    mails,
    refuse(whether: boolean) {
      isRefusing = whether
    },
  }
}

function read(raw: string, to: string[]): Mailed {
  const [head, ...rest] = raw.split('\r\n\r\n')
  const headers = new Map(
    head!
      .replaceAll(/\r\n[ \t]+/g, ' ')
      .split('\r\n')
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)] as const),
  )
  const boundary = /boundary="([^"]+)"/.exec(headers.get('content-type') ?? '')?.[1] ?? '\0'
  const parts = rest.join('\r\n\r\n').split(`--${boundary}`)
  const part = (type: string) => {
    const part = parts.find((candidate) => candidate.includes(`Content-Type: ${type}`)) ?? ''
    const body = part.slice(part.indexOf('\r\n\r\n') + 4).trimEnd()
    return /base64/i.test(part.split('\r\n\r\n')[0]!) ? Buffer.from(body, 'base64').toString() : unquoted(body)
  }
  return { to, raw, headers, text: part('text/plain').replaceAll('\r\n', '\n'), html: part('text/html') }
}

const unquoted = (text: string): string =>
  Buffer.from(
    text.replaceAll('=\r\n', '').replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8')
