/**
 * Idempotency keys of purchases. A key belongs to one operation with one input, and outlives a reload: when a response is lost, the
 * next attempt is the same purchase, not a second one.
 */
const nameOf = (operation: string) => `gt-key-${operation}`

interface StoredKey {
  input: string
  key: string
}

function stored(operation: string): StoredKey | null {
  try {
    return JSON.parse(sessionStorage.getItem(nameOf(operation)) ?? 'null') as StoredKey | null
  } catch {
    return null
  }
}

/** The key of this purchase: the stored one while the input is the same, otherwise a new one. */
export function keyFor(operation: string, input: string): string {
  const current = stored(operation)
  return current?.input === input ? current.key : create(operation, input)
}

/** A new key, for another attempt at the same purchase: a bank that declined a payment has decided on the old one. */
export function create(operation: string, input: string): string {
  const key = crypto.randomUUID()
  sessionStorage.setItem(nameOf(operation), JSON.stringify({ input, key } satisfies StoredKey))
  return key
}

/** After a purchase: the next one with the same input is a new one. */
export function remove(operation: string): void {
  sessionStorage.removeItem(nameOf(operation))
}
