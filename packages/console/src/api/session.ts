/** Who is signed in. The access token lives in memory; the refresh token is a cookie that no script can read. */
import { Client, ProblemError } from '../../../client/src/core.ts'
import { createStore } from '../store.ts'
import { recordingFetch } from './recorder.ts'

interface Person {
  id: string
  email: string
  name: string
}

interface Session {
  /** `unreachable`: nobody knows, because the service did not respond. */
  readonly state: 'unknown' | 'out' | 'in' | 'unreachable'
  readonly user: Person | null
  readonly organizationId: string | null
}

const KNOWN = 'gt-known'
const MAX_RETRIES = 1
const ends = new Set<() => void>()
const session = createStore<Session>({ state: 'unknown', user: null, organizationId: null })

/** The one client of the console: it renews the session by itself, and every call of it is recorded. */
export const client = new Client({
  fetch: recordingFetch,
  maxRetries: MAX_RETRIES,
  onSession: (tokens) => {
    if (tokens === null) return leave()
    localStorage.setItem(KNOWN, tokens.organizationId ?? '-')
    const now = session.get()
    if (now.state === 'in' && now.organizationId !== tokens.organizationId) publish({ ...now, organizationId: tokens.organizationId })
  },
})

function publish(next: Session): void {
  const { state, organizationId } = session.get()
  const hasEnded = state === 'in' && (next.state !== 'in' || next.organizationId !== organizationId)
  if (hasEnded) for (const end of ends) end()
  session.set(next)
}

/** Told when the session ends or goes on for another organization: what was fetched for it is not for the next. */
export function onSessionEnd(end: () => void): void {
  ends.add(end)
}

export const useSession = session.use

/** For requests that the map makes by itself. */
export const currentToken = () => client.session.tokens?.accessToken ?? null
export const freshToken = () => client.session.token()

async function enter(path: string, input: object): Promise<void> {
  const { user, organization_id } = await client.signIn(path, input)
  publish({ state: 'in', user, organizationId: organization_id })
}

/** After the user has changed their name or address. */
export function renameUser(change: Partial<Person>): void {
  const now = session.get()
  if (now.user) session.set({ ...now, user: { ...now.user, ...change } })
}

/** The session has ended, here or at the service. */
export function leave(): void {
  localStorage.removeItem(KNOWN)
  if (session.get().state !== 'out') publish({ state: 'out', user: null, organizationId: null })
}

export const signIn = (email: string, password: string) => enter('/auth/sign-in', { email, password, cookie: true })
/** The second step, with a code, a recovery code or a passkey. */
export const completeSignIn = (input: { challenge_token: string; code?: string; recovery_code?: string; credential?: object }) =>
  enter('/auth/sign-in/second-factor', { ...input, cookie: true })
export const signInByPasskey = (input: { challenge_token: string; credential: object }) =>
  enter('/auth/sign-in/passkey', { ...input, cookie: true })
export const signUp = (email: string, password: string, name: string) => enter('/auth/sign-up', { email, password, name, cookie: true })

export const forgot = (email: string) => client.route<unknown>('POST', '/auth/forgot', { email })

/** Set while the session is one that began at a provider. */
const AT_PROVIDER = 'gt-sso'

export const ssoOffer = () => client.route<{ installation: { name: string; url: string } | null }>('GET', '/auth/sso')

export interface SsoChoice {
  organization_id: string | null
  name: string
  url: string
}

export const findSso = async (email: string) => (await client.route<{ choices: SsoChoice[] }>('POST', '/auth/sso/find', { email })).choices

/** Back from a provider: the cookie of the new session is there. */
export async function enterFromProvider(): Promise<void> {
  await enter('/auth/refresh', { cookie: true })
  localStorage.setItem(AT_PROVIDER, '1')
}

/** Ends the session at the provider too, if it offers that: the browser goes there and comes back to the sign-in. */
async function signOutAtProvider(): Promise<void> {
  localStorage.removeItem(AT_PROVIDER)
  const { provider_url } = await client
    .route<{ provider_url: string | null }>('POST', '/auth/sso/sign-out', {})
    .catch(() => ({ provider_url: null }))
  leave()
  location.assign(provider_url ?? '/app/sign-in')
}

export async function signOut(): Promise<void> {
  if (localStorage.getItem(AT_PROVIDER) !== null) return await signOutAtProvider()
  await client.signOut('/auth/sign-out').catch(() => undefined)
  leave()
}

export interface InvitationPreview {
  organization: string
  role: string
  project?: string
  project_role?: string
  inviter: string | null
  email: string
  expires_at: string
}

export const previewInvitation = (token: string) => client.route<InvitationPreview>('POST', '/auth/invitations/preview', { token })
export const acceptInvitation = (token: string) => client.route<{ organization_id: string }>('POST', '/auth/invitations/accept', { token })

/** Acts for another organization from now on. */
export const chooseOrganization = (organizationId: string) => enter('/auth/refresh', { organization_id: organizationId })

/** At the start: a browser that was signed in still has its cookie. Only a rejection ends the session: an outage or a reload does not. */
export async function resume(): Promise<void> {
  const organization = localStorage.getItem(KNOWN)
  if (organization === null) return leave()
  try {
    await enter('/auth/refresh', organization === '-' ? {} : { organization_id: organization })
  } catch (error) {
    const status = error instanceof ProblemError ? error.status : null
    if (status === 403 && organization !== '-') {
      localStorage.setItem(KNOWN, '-') // The organization may be gone while the session is not.
      return await resume()
    }
    if (status === 401 || status === 403) return leave()
    publish({ state: 'unreachable', user: null, organizationId: null })
  }
}
