/** Every call of the console goes through here: typed by the contract, recorded for 'show the API call'. */
import type { Operations } from './contract.ts'
import { CallProblem, problemOf } from './problem.ts'
import { record } from './recorder.ts'
import { freshToken, renew } from './session.ts'

export type OperationId = keyof Operations
export type Input<K extends OperationId> = Operations[K]['input']
export type Output<K extends OperationId> = Operations[K]['output']

interface CallOptions {
  signal?: AbortSignal | undefined
  /** The same key and input give the same answer and spend once. */
  idempotencyKey?: string | undefined
}

export async function call<K extends OperationId>(id: K, input: Input<K>, options: CallOptions = {}): Promise<Output<K>> {
  return (await (await send(id, `/v1/op/${id}`, 'POST', input, options)).json()) as Output<K>
}

/** For bytes and lines: the response as it is. */
export function raw<K extends OperationId>(id: K, input: Input<K>, options: CallOptions = {}): Promise<Response> {
  return send(id, `/v1/op/${id}`, 'POST', input, options)
}

/** A route that is no operation. */
export function route(method: 'GET' | 'POST', path: string, body?: object, options: CallOptions = {}): Promise<Response> {
  return send(path.split('?')[0]!, path, method, body ?? null, options)
}

async function send(operation: string, path: string, method: 'GET' | 'POST', body: unknown, options: CallOptions): Promise<Response> {
  const first = await once(operation, path, method, body, options)
  const response = first.status === 401 && (await renew()) ? await once(operation, path, method, body, options) : first
  if (!response.ok) throw await problemOf(operation, response)
  return response
}

async function once(operation: string, path: string, method: 'GET' | 'POST', body: unknown, options: CallOptions): Promise<Response> {
  const token = await freshToken()
  const headers: Record<string, string> = {}
  if (token) headers['authorization'] = `Bearer ${token}`
  if (body !== null) headers['content-type'] = 'application/json'
  if (options.idempotencyKey) headers['idempotency-key'] = options.idempotencyKey
  const startedAt = performance.now()
  const seen = { operation, method, path, body, idempotencyKey: options.idempotencyKey ?? null }
  try {
    const response = await fetch(path, {
      method,
      headers,
      body: body === null ? null : JSON.stringify(body),
      signal: options.signal ?? null,
    })
    record({ ...seen, status: response.status, ms: Math.round(performance.now() - startedAt) })
    return response
  } catch (error) {
    if (options.signal?.aborted) throw error
    record({ ...seen, status: 0, ms: Math.round(performance.now() - startedAt) })
    throw new CallProblem(operation, 0, { code: 'no-answer', detail: 'No answer came. Check the connection and try again.' }, null)
  }
}
