/** Sign-in in the browser, at the login of an organization: the browser comes back to a port of this machine with a code. */
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Client } from '../../../client/src/core.ts'
import { UsageError } from '../failure.ts'
import { note } from '../terminal.ts'

const WAIT_MS = 600_000

interface SsoOptions {
  server: string
  /** Finds the organization by the domain of the address. */
  email: string | undefined
  organizationId: string | undefined
}

/** The client has a session afterwards. */
export async function signInByBrowser(client: Client, { server, email, organizationId }: SsoOptions): Promise<void> {
  const path = organizationId ? `/auth/sso/start?organization=${organizationId}` : await pathFor(client, email)
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const code = await codeFromBrowser((port) => {
    const url = new URL(path, server)
    url.searchParams.set('port', String(port))
    url.searchParams.set('challenge', challenge)
    note(`Open this address in a browser on this machine, and sign in:\n\n  ${url.href}\n`)
  })
  await client.signIn('/auth/sso/token', { code, verifier })
}

async function pathFor(client: Client, email: string | undefined): Promise<string> {
  if (email === undefined) return '/auth/sso/start'
  const { choices } = await client.route<{ choices: { name: string; organization_id: string | null; url: string }[] }>(
    'POST',
    '/auth/sso/find',
    { email },
  )
  if (choices.length > 1)
    throw new UsageError(
      'Several organizations have this domain',
      `Pass --organization with one of: ${choices.map(({ name, organization_id }) => `${organization_id ?? '-'} (${name})`).join(', ')}`,
    )
  return choices[0]!.url
}

/** Waits for the browser at any free port. */
async function codeFromBrowser(announce: (port: number) => void): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://127.0.0.1').searchParams
    const [code, error] = [query.get('code'), query.get('error')]
    if (code === null && error === null) return void response.writeHead(404).end()
    const text = code === null ? 'The sign-in failed; see the terminal.' : 'You are signed in. You can close this window.'
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(text)
    if (code === null) reject(new UsageError(`The sign-in failed: ${error}`, 'Run the command again, or sign in with an API key: --key'))
    else resolve(code)
  })
  const timer = setTimeout(() => reject(new UsageError('Nobody signed in within 10 minutes', 'Run the command again')), WAIT_MS)
  try {
    await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening))
    announce((server.address() as AddressInfo).port)
    return await promise
  } finally {
    clearTimeout(timer)
    server.close()
  }
}
