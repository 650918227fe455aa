/** Every call of the console goes through here: typed by the contract, made by the client that everybody can use. */
import type { Caller, CallOptions } from '../../../client/src/core.ts'
import type { Input, OperationId, Output } from './contract.ts'
import { ProblemError } from './problem.ts'
import { client, leave } from './session.ts'

/** A key given says that the call is meant once, however often it is sent. */
export async function call<K extends OperationId>(id: K, input: Input<K>, options: CallOptions = {}): Promise<Output<K>> {
  return await watched(client.call<Output<K>>(id, input as object, options, options.idempotencyKey ? 'keyed' : 'write'))
}

/** A route that is no operation. */
export const route = <O>(method: 'GET' | 'POST', path: string, input?: object, options?: CallOptions): Promise<O> =>
  watched(client.route<O>(method, path, input, options))

/** The client for modules of the client library that call it by themselves, such as the upload queue. */
export const caller: Caller = { call: (id, input, options, repeat) => watched(client.call(id, input, options, repeat)) }

/** 401 after a renewal: the session is over, and the sign-in page is shown. */
async function watched<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (error instanceof ProblemError && error.status === 401) leave()
    throw error
  }
}
