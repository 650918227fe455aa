/** The last calls of this browser, for 'show the API call'. Nothing that is secret enters it. */
import { createStore } from '../store.ts'

export interface RecordedCall {
  readonly id: number
  readonly operation: string
  readonly method: 'POST' | 'GET'
  readonly path: string
  /** The body as it was sent, secrets struck out; null for GET. */
  readonly body: unknown
  readonly idempotencyKey: string | null
  readonly status: number
  readonly ms: number
  /** The screen it was made for. */
  readonly screen: string
}

const KEPT = 50
const SECRET = /^(password|new_password|refresh_token|token|client_secret|secret|key)$/
let nextId = 1

export const recordedCalls = createStore<readonly RecordedCall[]>([])

/** `fetch` for the client. A refresh token works once, also for the tab beside this one: they wait for each other. */
export const recordingFetch: typeof fetch = async (input, init) => {
  const { pathname, search } = new URL(String(input), location.origin)
  if (pathname === '/auth/refresh')
    return await (navigator.locks.request('gt-refresh', () => recorded(pathname, input, init)) as Promise<Response>)
  return await recorded(pathname + search, input, init)
}

async function recorded(path: string, input: Parameters<typeof fetch>[0], init: RequestInit | undefined): Promise<Response> {
  const startedAt = performance.now()
  const headers = (init?.headers ?? {}) as Record<string, string>
  let status = 0
  try {
    const response = await fetch(input, init)
    status = response.status
    return response
  } finally {
    if (!init?.signal?.aborted)
      record({
        operation: path.startsWith('/v1/op/') ? path.slice('/v1/op/'.length) : path.split('?')[0]!,
        method: init?.method === 'GET' ? 'GET' : 'POST',
        path,
        body: typeof init?.body === 'string' ? (JSON.parse(init.body) as unknown) : null,
        idempotencyKey: headers['idempotency-key'] ?? null,
        status,
        ms: Math.round(performance.now() - startedAt),
      })
  }
}

function record(call: Omit<RecordedCall, 'id' | 'screen'>): void {
  const latest = { ...call, body: redact(call.body), id: nextId++, screen: location.pathname }
  recordedCalls.set([latest, ...recordedCalls.get()].slice(0, KEPT))
}

function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, struck(name, inner)]))
}

/** Headers of a webhook are keys of somebody's gateway: their names may be read, never their values. */
function struck(name: string, value: unknown): unknown {
  if (SECRET.test(name)) return '…'
  if (name !== 'headers' || typeof value !== 'object' || value === null) return redact(value)
  return Object.fromEntries(Object.keys(value).map((header) => [header, '…']))
}
