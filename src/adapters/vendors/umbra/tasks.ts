/**
 * Tasks at Umbra, whatever they are for: a scene of the archive is a task, too. Umbra recognizes no repeated order: our reference is
 * the `userOrderId`, which is looked for first.
 */
import { VendorError, type CallOptions, type VendorErrorCode } from '#ports/vendors/call.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { requireAnswer } from '#adapters/vendors/require-answer.ts'
import { CANCELLABLE, CANCELLING } from './states.ts'
import { MAX_TASKS, schemas, type Task } from './wire.ts'

const SERVICE = { service: 'tasking' } as const
/** The georeferenced image; the others are for radar specialists, and in formats that we do not read. */
const PRODUCTS = { productTypes: ['GEC'] } as const

export const referenceOf = ({ properties }: Task): string => properties.userOrderId ?? ''

const failure = (host: Host, code: VendorErrorCode, what: string): VendorError => new VendorError(code, host.name, `${host.name} ${what}`)

export async function getTask(host: Host, id: string, options: CallOptions): Promise<Task> {
  const task = await requireAnswer(host, schemas.task, { ...SERVICE, path: `/tasks/${encodeURIComponent(id)}`, ...options }, 'task')
  if (task.id === id) return task
  throw failure(host, 'invalid-response', 'returned another object than requested')
}

/** The task with our reference; null if Umbra does not have it. */
export async function findTask(host: Host, reference: string, options: CallOptions): Promise<Task | null> {
  const body = { limit: MAX_TASKS, skip: 0, query: { userOrderId: { eq: reference } } }
  const request = { ...SERVICE, method: 'POST' as const, path: '/tasks/search', body, isRepeatable: true, ...options }
  const { features } = await requireAnswer(host, schemas.tasks, request, 'list of tasks')
  const ours = features.find((task) => referenceOf(task) === reference)
  if (ours) return ours
  // Ours could be on any page of a list that is not filtered.
  if (features.length > 0) throw failure(host, 'unavailable', 'does not filter its tasks by userOrderId, so ours cannot be looked for')
  return null
}

/** Orders one collect of the archive, once. */
export async function orderCollect(
  host: Host,
  { reference, collectId, name }: { readonly reference: string; readonly collectId: string; readonly name: string },
  options: CallOptions,
): Promise<Task> {
  const body = { items: [{ collectId, ...PRODUCTS, userOrderId: reference, taskName: name }] }
  const request = { ...SERVICE, method: 'POST' as const, path: '/tasks/archive-tasks', body, ...options }
  const { results } = await requireAnswer(host, schemas.archiveOrder, request, 'confirmation')
  const [result, second] = results
  if (!result || second || result.collectId !== collectId) throw failure(host, 'invalid-response', 'confirmed another order than requested')
  if (result.taskId === undefined) throw failure(host, 'refused', `rejected the order: ${result.message || 'no reason is given'}`)
  // Results name several tasks; ours is the one that has our reference.
  return (await findTask(host, reference, options)) ?? (await getTask(host, result.taskId, options))
}

interface NewTask {
  readonly reference: string
  readonly name: string
  readonly constraints: object
  readonly windowStartAt: string
  readonly windowEndAt: string
  readonly satelliteIds: readonly string[]
}

/** Tasks a new image, once. */
export async function createTask(host: Host, { reference, name, ...wanted }: NewTask, options: CallOptions): Promise<Task> {
  const body = { ...wanted, ...PRODUCTS, taskName: name, userOrderId: reference }
  const task = await requireAnswer(host, schemas.task, { ...SERVICE, method: 'POST', path: '/tasks', body, ...options }, 'task')
  if (referenceOf(task) === reference) return task
  throw failure(host, 'invalid-response', 'confirmed another order than requested')
}

/** Asks Umbra to cancel. `refused` if it is too late; asking again changes nothing. */
export async function cancelTask(host: Host, id: string, options: CallOptions): Promise<Task> {
  const before = await getTask(host, id, options)
  const { status } = before.properties
  if (CANCELLING.includes(status)) return before
  if (!CANCELLABLE.includes(status)) throw failure(host, 'refused', `does not cancel a task that is ${status}`)
  try {
    await host.json({ ...SERVICE, method: 'PATCH', path: `/tasks/${encodeURIComponent(id)}/cancel`, ...options })
  } catch (error) {
    // The response to an earlier request can have been lost.
    const after = await getTask(host, id, options)
    if (CANCELLING.includes(after.properties.status)) return after
    throw error
  }
  return await getTask(host, id, options)
}
