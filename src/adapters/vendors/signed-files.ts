/**
 * Files in Azure storage that the Planetary Computer lets everyone read with a short-lived token (SAS), one for each storage
 * account and container. The token is appended to the URL when a file is read, and is stored nowhere else.
 */
import { isIP } from 'node:net'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import type { Clock } from '#core/clock.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { FileUrls } from '#ports/vendors/catalog.ts'
import type { VendorTokens } from '#ports/vendor-tokens.ts'
import { createAccessToken, type AccessToken } from './access-token.ts'
import type { Host } from './host.ts'
import type { HostAddress } from './registry.ts'

const TokenResponse = Compile(
  Type.Object({ token: Type.String({ pattern: '^[\\x21-\\x7e]+$', maxLength: 4_000 }), 'msft:expiry': Type.String({ maxLength: 100 }) }),
)
/** Parameters of a signature; a URL that has one is signed already. */
const SIGNATURE_PARAMETERS = ['st', 'se', 'sp', 'sig']
const MAX_LIFETIME_MS = 7 * 86_400_000

interface SignedHost {
  readonly address: HostAddress
  /** Sends requests to the service that issues tokens. */
  readonly service: Host
}

export function createFileUrls(hosts: readonly SignedHost[], parts: { tokens: VendorTokens; clock: Clock }): FileUrls {
  const containers = new Map<string, { hosts: readonly string[]; token: AccessToken }>()
  for (const { address, service } of hosts)
    for (const name of address.sas?.containers ?? [])
      containers.set(name, {
        hosts: address.fileHosts,
        token: createAccessToken({
          ...parts,
          hostName: address.hostName,
          name,
          secret: null, // Anyone can request one.
          request: () => requestToken(service, name, parts.clock),
        }),
      })
  const tokenFor = (url: string): AccessToken | null => {
    const target = URL.parse(url)
    const container = target && containers.get(containerOf(target))
    if (!container || SIGNATURE_PARAMETERS.some((name) => target.searchParams.has(name))) return null
    return container.hosts.includes(target.host) ? container.token : null
  }
  return {
    isSigned: (url) => tokenFor(url) !== null,
    async sign(url, refused) {
      const access = tokenFor(url)
      if (!access) throw new Error('Only files of listed containers are signed')
      const token = await access.get(refused)
      return { url: `${url}${url.includes('?') ? '&' : '?'}${token.value}`, version: token.version, validMs: access.validMs(token) }
    },
  }
}

/** `account/container`: the first label of the host and the first part of the path; the storage emulator has both in the path. */
function containerOf({ hostname, pathname }: URL): string {
  const [, first = '', second = ''] = pathname.split('/')
  return isIP(hostname) ? `${first}/${second}` : `${hostname.split('.')[0]}/${first}`
}

/** The lifetime is measured by the server's clock, which need not agree with ours. */
async function requestToken(service: Host, name: string, clock: Clock) {
  const { status, date, body } = await service.send({ path: `/${name}` })
  const fail = (reason: string) => new VendorError('unavailable', service.name, `${service.name} issued no token for ${name}: ${reason}`)
  if (status !== 200) throw fail(`HTTP ${status}`)
  const response = parsed(body)
  if (!TokenResponse.Check(response)) throw fail('invalid response')
  const lifetimeMs = Date.parse(response['msft:expiry']) - (date ?? clock.now().getTime())
  if (!(lifetimeMs > 0)) throw fail('it has expired already')
  return { value: response.token.replace(/^\?/, ''), lifetimeMs: Math.min(lifetimeMs, MAX_LIFETIME_MS) }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return null
  }
}
