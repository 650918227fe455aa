/** Who leaves before a world closes: hooks of a test run in the order in which they were set, and the world's is the first. */
import type { TestContext } from 'node:test'

const guests = new WeakMap<TestContext, (() => Promise<void>)[]>()

export function leavesFirst(t: TestContext, leave: () => Promise<void>): void {
  guests.set(t, [...(guests.get(t) ?? []), leave])
}

export async function guestsLeave(t: TestContext): Promise<void> {
  for (const leave of guests.get(t) ?? []) await leave()
}

/** What does not end by itself ends here, and says what it was. */
export async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`${what} took more than ${ms / 1000} s`)), ms)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
