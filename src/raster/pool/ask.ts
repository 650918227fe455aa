/** Questions of a child process to its parent, for what a child must not have: settings and credentials. */
import { RasterError } from '#raster/errors.ts'
import { reviveError, type ChildMessage, type ParentMessage } from './protocol.ts'

const pending = new Map<number, PromiseWithResolvers<unknown>>()
let nextId = 1

/** The parent's answer; the pool's `answer` gives it. */
export async function askParent(question: unknown): Promise<unknown> {
  if (!process.send) throw new RasterError('worker_failed', 'Only a child process has a parent to ask')
  const id = nextId++
  const answer = Promise.withResolvers<unknown>()
  pending.set(id, answer)
  process.send({ kind: 'ask', id, question } satisfies ChildMessage)
  return await answer.promise
}

export function takeAnswer({ id, result }: Extract<ParentMessage, { kind: 'answer' }>): void {
  const answer = pending.get(id)
  pending.delete(id)
  if (result.ok) answer?.resolve(result.output)
  else answer?.reject(reviveError(result.code, result.message))
}
