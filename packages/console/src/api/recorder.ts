/** The last calls of this browser, for 'show the API call'. Nothing that is secret enters it. */
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
const listeners = new Set<() => void>()
let calls: readonly RecordedCall[] = []
let nextId = 1

export function record(call: Omit<RecordedCall, 'id' | 'screen'>): void {
  calls = [{ ...call, body: strike(call.body), id: nextId++, screen: location.pathname }, ...calls].slice(0, KEPT)
  for (const listener of listeners) listener()
}

export const recordedCalls = () => calls

export function onRecorded(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function strike(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strike)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, SECRET.test(name) ? '…' : strike(inner)]))
}
