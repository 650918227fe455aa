/** The latest calls of this tab, for the API drawer. Secrets are redacted before they are recorded. */
import { createStore } from '../store.ts'

export interface RecordedCall {
  readonly id: number
  readonly operation: string
  readonly method: 'POST' | 'GET'
  readonly path: string
  /** The request body with secrets redacted; null for GET. */
  readonly body: unknown
  readonly idempotencyKey: string | null
  readonly status: number
  readonly ms: number
  /** The path of the screen that made it. */
  readonly screen: string
}

const KEPT = 50
const REDACTED = '…'
const SECRET =
  /^(password|new_password|refresh_token|token|client_secret|secret|key|credentials|credential|code|recovery_code|challenge_token)$/
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

/** Replaces the values of secret fields, at any depth. */
export function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, redactField(name, inner)]))
}

/** Webhook headers can hold the key of a gateway: their names are shown, their values are not. */
function redactField(name: string, value: unknown): unknown {
  if (SECRET.test(name)) return REDACTED
  if (name !== 'headers' || typeof value !== 'object' || value === null) return redact(value)
  return Object.fromEntries(Object.keys(value).map((header) => [header, REDACTED]))
}
