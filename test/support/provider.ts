/** OpenID Connect for tests: a certified provider on loopback, one that lies, a browser with cookies, and a name server. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose'
import { Provider, type AccountClaims } from 'oidc-provider'

export const CLIENT = { id: 'groundtrack', secret: 'known to both sides, and long enough' }

async function listening(t: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => void server.close(() => resolve()))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** The certified provider. Its client is registered later, when the address of the service is known. */
export async function startProvider(t: TestContext) {
  let handle: Handler = (_request, response) => void response.writeHead(503).end()
  const issuer = await listening(
    t,
    createServer((request, response) => handle(request, response)),
  )
  const people = new Map<string, AccountClaims>()
  const state = { signsIn: '', isCancelling: false, asks: false }
  let provider: Provider
  const publicKeys: { kid?: string }[] = []

  const register = async (redirectUris: readonly string[], signOutUris: readonly string[] = [], kid = 'first'): Promise<void> => {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true })
    const jwk = { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' }
    publicKeys.push(jwk)
    provider = new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          redirect_uris: [...redirectUris],
          post_logout_redirect_uris: [...signOutUris],
        },
      ],
      jwks: { keys: [jwk as never] },
      cookies: { keys: ['a key for the cookies of tests'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
      features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
      pkce: { required: () => true },
      interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
      findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...people.get(sub), sub }) as AccountClaims }),
      loadExistingGrant: async (ctx) => {
        const grant = new provider.Grant({ clientId: ctx.oidc.client!.clientId, accountId: ctx.oidc.session!.accountId! })
        grant.addOIDCScope('openid email profile')
        await grant.save()
        return grant
      },
    })
    const callback = provider.callback() as Handler
    handle = (request, response) => {
      const url = new URL(request.url!, issuer)
      if (!url.pathname.startsWith('/interaction/')) return callback(request, response)
      if (state.asks && !url.searchParams.has('go'))
        return void response
          .writeHead(200, { 'content-type': 'text/html' })
          .end(`<html lang="en"><title>Provider</title><h1>Coastal login</h1><a href="?go=1">Continue as ${state.signsIn}</a></html>`)
      const result = state.isCancelling ? { error: 'access_denied' } : { login: { accountId: state.signsIn } }
      void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
    }
  }
  return { issuer, host: new URL(issuer).host, people, state, register }
}

/** A provider that says whatever a test wants it to. */
export async function startLiar(t: TestContext) {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const other = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid: 'liar', alg: 'RS256', use: 'sig' }
  const requests: { path: string; body: string; headers: IncomingMessage['headers'] }[] = []
  const lies: {
    claims: JWTPayload
    /** Claims of userinfo. */
    info: Record<string, unknown> | null
    isSignedByAnother: boolean
    isUnsigned: boolean
    description: Record<string, unknown>
  } = { claims: {}, info: null, isSignedByAnother: false, isUnsigned: false, description: {} }
  let issuer = ''
  const idToken = async (): Promise<string> => {
    const now = Math.floor(Date.now() / 1_000)
    const claims = { iss: issuer, aud: CLIENT.id, iat: now, exp: now + 300, ...lies.claims }
    if (lies.isUnsigned) {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      return `${part({ alg: 'none' })}.${part(claims)}.`
    }
    const key = lies.isSignedByAnother ? other.privateKey : privateKey
    return await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'liar' }).sign(key)
  }
  const answer = async (path: string): Promise<object> => {
    if (path === '/.well-known/openid-configuration')
      return {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        ...(lies.info ? { userinfo_endpoint: `${issuer}/info` } : {}),
        ...lies.description,
      }
    if (path === '/keys') return { keys: [jwk] }
    if (path === '/info') return lies.info!
    return { access_token: 'x', token_type: 'Bearer', id_token: await idToken() }
  }
  issuer = await listening(
    t,
    createServer((request, response) => {
      const path = new URL(request.url!, 'http://localhost').pathname
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        requests.push({ path, body, headers: request.headers })
        void answer(path).then((value) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value)))
      })
    }),
  )
  return { issuer, host: new URL(issuer).host, lies, requests }
}

/** Follows redirects between hosts with cookies, as a browser does. */
export function visitor() {
  const jars = new Map<string, Map<string, string>>()
  const get = async (url: string): Promise<Response> => {
    const { origin, pathname } = new URL(url)
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    const sent = [...jar].filter(([name]) => !name.startsWith('groundtrack_refresh') || pathname.startsWith('/auth'))
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: sent.map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      if (/max-age=0/i.test(line) || /expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name!)
      else jar.set(name!, value!)
    }
    return response
  }
  const MAX_HOPS = 20
  return {
    jars,
    get,
    /** Until a page is there, or an address that `stops` names. */
    async follow(start: string, stops: (url: URL) => boolean = () => false): Promise<{ url: URL; response: Response | null }> {
      let url = new URL(start)
      for (let hops = 0; hops < MAX_HOPS; hops++) {
        if (stops(url)) return { url, response: null }
        const response = await get(url.href)
        const location = response.headers.get('location')
        if (location === null) return { url, response }
        url = new URL(location, url)
      }
      throw new Error('too many redirects')
    },
  }
}

const TXT = 16
const HEADER_BYTES = 12
const QUESTION_TAIL_BYTES = 5

/** Answers questions for TXT records, and has nothing else. */
export async function startNameServer(t: TestContext) {
  const records = new Map<string, string[]>()
  const socket = createSocket('udp4')
  socket.on('message', (question, { port, address }) => {
    const labels: string[] = []
    let at = HEADER_BYTES
    for (let length = question[at]!; length > 0; length = question[at]!) {
      labels.push(question.toString('ascii', at + 1, at + 1 + length))
      at += 1 + length
    }
    const asked = question.subarray(HEADER_BYTES, at + QUESTION_TAIL_BYTES)
    const texts = question.readUInt16BE(at + 1) === TXT ? (records.get(labels.join('.').toLowerCase()) ?? []) : []
    const answers = texts.map((text) => {
      const data = Buffer.concat([Buffer.from([text.length]), Buffer.from(text)])
      const fixed = Buffer.from([0xc0, HEADER_BYTES, 0, TXT, 0, 1, 0, 0, 0, 60, 0, data.length])
      return Buffer.concat([fixed, data])
    })
    const header = Buffer.from([question[0]!, question[1]!, 0x81, texts.length > 0 ? 0x80 : 0x83, 0, 1, 0, texts.length, 0, 0, 0, 0])
    socket.send(Buffer.concat([header, asked, ...answers]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => void socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, records }
}
