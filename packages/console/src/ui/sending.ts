import { useState, type FormEvent } from 'react'

/** A form that is sent once at a time. */
export function useSending(work: () => Promise<void>): { send(event?: FormEvent): void; busy: boolean; error: unknown } {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const send = (event?: FormEvent) => {
    event?.preventDefault()
    setBusy(true)
    setError(null)
    work()
      .catch((cause: unknown) => setError(cause))
      .finally(() => setBusy(false))
  }
  return { send, busy, error }
}
