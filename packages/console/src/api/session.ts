/** Who is signed in. The access token lives in memory; the refresh token is a cookie that no script can read. */
import { useSyncExternalStore } from 'react'
import { CallProblem, problemOf } from './problem.ts'
import { record } from './recorder.ts'

interface Grant {
  access_token: string
  expires_in: number
  user: { id: string; email: string; name: string }
  organization_id: string | null
}

interface Session {
  readonly state: 'unknown' | 'out' | 'in'
  readonly user: Grant['user'] | null
  readonly organizationId: string | null
}

/** Part of its life after which a token is renewed. */
const RENEW_AT = 0.8
const KNOWN = 'gt-known'
const listeners = new Set<() => void>()
let session: Session = { state: 'unknown', user: null, organizationId: null }
let token: { value: string; renewAt: number } | null = null
let renewing: Promise<boolean> | null = null

function publish(next: Session): void {
  session = next
  for (const listener of listeners) listener()
}

export function useSession(): Session {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => session,
  )
}

export const currentSession = () => session
/** For requests that the map makes by itself. */
export const currentToken = () => token?.value ?? null

function adopt(grant: Grant): void {
  token = { value: grant.access_token, renewAt: Date.now() + grant.expires_in * 1000 * RENEW_AT }
  localStorage.setItem(KNOWN, grant.organization_id ?? '-')
  publish({ state: 'in', user: grant.user, organizationId: grant.organization_id })
}

function leave(): void {
  token = null
  localStorage.removeItem(KNOWN)
  publish({ state: 'out', user: null, organizationId: null })
}

async function post(path: string, body: object, withToken = false): Promise<Response> {
  const startedAt = performance.now()
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(withToken && token ? { authorization: `Bearer ${token.value}` } : {}) },
    body: JSON.stringify(body),
  }).catch((cause: unknown) => {
    throw new CallProblem(path, 0, { code: 'no-answer', detail: String(cause) }, null)
  })
  const ms = Math.round(performance.now() - startedAt)
  record({ operation: path, method: 'POST', path, body, idempotencyKey: null, status: response.status, ms })
  if (!response.ok) throw await problemOf(path, response)
  return response
}

export async function signIn(email: string, password: string): Promise<void> {
  adopt((await (await post('/auth/sign-in', { email, password, cookie: true })).json()) as Grant)
}

export async function signUp(email: string, password: string, name: string): Promise<void> {
  adopt((await (await post('/auth/sign-up', { email, password, name, cookie: true })).json()) as Grant)
}

export async function signOut(): Promise<void> {
  await post('/auth/sign-out', {}).catch(() => undefined)
  leave()
}

export async function acceptInvitation(invitation: string): Promise<{ organization_id: string }> {
  const response = await post('/auth/invitations/accept', { token: invitation }, true)
  return (await response.json()) as { organization_id: string }
}

/** Acts for another organization from now on. */
export async function chooseOrganization(organizationId: string): Promise<void> {
  await underLock(async () => adopt((await (await post('/auth/refresh', { organization_id: organizationId })).json()) as Grant))
}

/** A refresh token works once, also for the tab beside this one. */
const underLock = <T>(work: () => Promise<T>): Promise<T> => navigator.locks.request('gt-refresh', work) as Promise<T>

/** False when the session has ended. */
export function renew(): Promise<boolean> {
  renewing ??= underLock(async () => {
    const organization = localStorage.getItem(KNOWN)
    const choice = organization && organization !== '-' ? { organization_id: organization } : {}
    try {
      adopt((await (await post('/auth/refresh', choice)).json()) as Grant)
      return true
    } catch (error) {
      if (error instanceof CallProblem && error.status === 0) throw error
      leave()
      return false
    }
  }).finally(() => {
    renewing = null
  })
  return renewing
}

/** The token to send, renewed where its life is nearly over; null where nobody is signed in. */
export async function freshToken(): Promise<string | null> {
  if (token && Date.now() > token.renewAt) await renew()
  return token?.value ?? null
}

/** At the start: a browser that was signed in still has its cookie. */
export async function resume(): Promise<void> {
  if (localStorage.getItem(KNOWN) === null) return leave()
  await renew().catch(() => leave())
}
