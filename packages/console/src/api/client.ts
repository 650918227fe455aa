/** Every call of the console goes through here: typed by the contract, made by the client that everybody can use. */
import { upload, UploadError, type CallOptions, type Uploaded, type UploadOptions } from '../../../client/src/core.ts'
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

/** Bytes straight to the store, in pieces that go on where they stopped. */
export const sendFiles = (options: UploadOptions): Promise<Uploaded> => watched(upload(client, options))

/** 401 after a renewal: the session is over, and the sign-in page is shown. */
async function watched<T>(made: Promise<T>): Promise<T> {
  try {
    return await made
  } catch (error) {
    const problem = error instanceof UploadError ? error.cause : error
    if (problem instanceof ProblemError && problem.status === 401) leave()
    throw error
  }
}
