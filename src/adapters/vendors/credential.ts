/**
 * How the platform authenticates at a host. The registry names the method; the secrets are settings of the operator or accounts of
 * organizations, never in the file.
 */
import Type, { type Static } from 'typebox'
import { Choice, Closed } from '#core/shapes.ts'
import type { AccountSecret, SecretField } from '#ports/vendors/source.ts'

const Url = Type.String({ pattern: '^https?://[^ ?#]+$', maxLength: 2_000 })
/** Hosts that receive the credential in addition to the API itself, such as those of its files. */
const hosts = Type.Optional(Type.Array(Type.String({ pattern: '^[a-z0-9.-]+(:[0-9]+)?$' }), { maxItems: 50 }))

export const Auth = Type.Union([
  Closed({ kind: Type.Literal('none') }),
  /** The sandbox's own key, which is public. */
  Closed({ kind: Type.Literal('sandbox') }),
  Closed({
    kind: Type.Literal('header'),
    header: Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$' }),
    /** Precedes the key, for example `Bearer `. */
    prefix: Type.Optional(Type.String({ pattern: '^[\\x20-\\x7e]{0,40}$' })),
    hosts,
  }),
  Closed({ kind: Type.Literal('basic'), hosts }),
  Closed({
    kind: Type.Literal('oauth-client'),
    tokenUrl: Url,
    /** How the token request is encoded; RFC 6749 has `form`. */
    body: Type.Optional(Choice(['form', 'json'])),
    /** Where the client ID and secret are; some servers accept only one of the two. */
    clientIn: Type.Optional(Choice(['body', 'header'])),
    scope: Type.Optional(Type.String({ maxLength: 500 })),
    audience: Type.Optional(Type.String({ maxLength: 500 })),
    hosts,
  }),
  Closed({
    kind: Type.Literal('oauth-password'),
    tokenUrl: Url,
    /** Of the application that signs in for the user; public. */
    clientId: Type.String({ minLength: 1, maxLength: 200 }),
    scope: Type.Optional(Type.String({ maxLength: 500 })),
    hosts,
  }),
])
export type Auth = Static<typeof Auth>

/** Values of the `VENDOR_…` settings by name. */
export type Secrets = Readonly<Record<string, string>>

export type Credential =
  | { readonly kind: 'none' }
  | { readonly kind: 'fixed'; readonly headers: Readonly<Record<string, string>>; readonly hosts: readonly string[] }
  | {
      readonly kind: 'oauth'
      readonly tokenUrl: string
      readonly body: 'form' | 'json'
      /** Of the token request, without the header. */
      readonly fields: Readonly<Record<string, string>>
      readonly header: string | null
      /** Encrypts the stored token. */
      readonly secret: string
      readonly hosts: readonly string[]
    }

/** Accepted by the simulated vendors; sandbox/vendors/hosts.ts has the same. */
const SANDBOX_KEY = 'sandbox-vendor-key'

const basicHeader = (user: string, password: string): string => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

const FIELDS: Readonly<Record<Auth['kind'], readonly SecretField[]>> = {
  none: [],
  sandbox: ['key'],
  header: ['key'],
  basic: ['user', 'password'],
  'oauth-client': ['client_id', 'client_secret'],
  'oauth-password': ['user', 'password'],
}

/** The parts of the secret that a method needs. */
export const secretFieldsOf = ({ kind }: Auth): readonly SecretField[] => FIELDS[kind]

/** `VENDOR_<HOST>_<WHAT>`, with the host name in capitals and `_` for other characters. */
const settingOf = (hostName: string, field: SecretField): string =>
  `VENDOR_${hostName.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_${field.toUpperCase()}`

type Found = { readonly credential: Credential; readonly missing?: never } | { readonly credential: null; readonly missing: string }

/** The operator's credential at a host, or the name of the first setting that it lacks. */
export function installationCredential(auth: Auth, hostName: string, secrets: Secrets): Found {
  if (auth.kind === 'sandbox') return { credential: credentialOf(auth, { key: SANDBOX_KEY }) }
  const fields = secretFieldsOf(auth)
  const missing = fields.map((field) => settingOf(hostName, field)).find((setting) => !secrets[setting])
  if (missing !== undefined) return { credential: null, missing }
  return { credential: credentialOf(auth, Object.fromEntries(fields.map((field) => [field, secrets[settingOf(hostName, field)]!]))) }
}

/** The secret has all fields of the method. */
export function credentialOf(auth: Auth, { key, user, password, client_id, client_secret }: AccountSecret): Credential {
  if (auth.kind === 'none') return { kind: 'none' }
  if (auth.kind === 'sandbox') return { kind: 'fixed', headers: { authorization: `Bearer ${key}` }, hosts: [] }
  const { hosts: others = [] } = auth
  if (auth.kind === 'header')
    return { kind: 'fixed', headers: { [auth.header.toLowerCase()]: `${auth.prefix ?? ''}${key}` }, hosts: others }
  if (auth.kind === 'basic') return { kind: 'fixed', headers: { authorization: basicHeader(user!, password!) }, hosts: others }
  const scope = auth.scope === undefined ? {} : { scope: auth.scope }
  if (auth.kind === 'oauth-password') {
    const fields = { grant_type: 'password', client_id: auth.clientId, username: user!, password: password!, ...scope }
    return { kind: 'oauth', tokenUrl: auth.tokenUrl, body: 'form', fields, header: null, secret: password!, hosts: others }
  }
  const { tokenUrl, body = 'form', clientIn = 'body', audience } = auth
  const fields = {
    grant_type: 'client_credentials',
    ...(clientIn === 'body' ? { client_id: client_id!, client_secret: client_secret! } : {}),
    ...scope,
    ...(audience === undefined ? {} : { audience }),
  }
  const header = clientIn === 'header' ? basicHeader(encodeURIComponent(client_id!), encodeURIComponent(client_secret!)) : null
  return { kind: 'oauth', tokenUrl, body, fields, header, secret: client_secret!, hosts: others }
}
