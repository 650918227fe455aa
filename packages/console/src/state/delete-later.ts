/**
 * Deletions that can be undone for ten seconds. The request is sent after that time, or when the page is left or hidden: a browser
 * can discard a hidden page without notice.
 */
import { toast } from '../ui/toasts.tsx'
import type { Input, Item, OperationId } from '../api/contract.ts'
import { call } from '../api/client.ts'
import { queries, touch } from '../api/query.ts'
import { recordingFetch } from '../api/recorder.ts'
import { currentToken, freshToken, onSessionEnd } from '../api/session.ts'

/** Long enough to reach the button by keyboard. */
const UNDO_MS = 20_000

interface Deletion<K extends OperationId> {
  operation: K
  input: Input<K>
  /** Shown to the user. */
  name: string
  /** Domains whose queries are refetched. */
  touches: readonly string[]
}

/** Sends each pending deletion at once. */
const pending = new Set<() => void>()

function flush(): void {
  for (const send of pending) send()
}
addEventListener('pagehide', flush)
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') flush()
})
onSessionEnd(() => pending.clear())

export function deleteLater<K extends OperationId>({ operation, input, name, touches }: Deletion<K>): void {
  // Refreshed now if it is about to expire: the last request of a page cannot wait for it.
  void freshToken().catch(() => undefined)
  const settle = () => {
    clearTimeout(timer)
    dismiss()
    return pending.delete(sendNow)
  }
  const refresh = () => void touch(queries, touches)
  const tell = (reason: string) => void toast(`Could not delete ${name}: ${reason}`, 'bad')
  /** A request that outlives its page. */
  const sendNow = () => {
    if (!settle()) return
    recordingFetch(`/v1/op/${operation}`, {
      method: 'POST',
      keepalive: true,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${currentToken()}` },
      body: JSON.stringify(input),
    }).then(
      async (response) => (response.ok ? refresh() : tell(((await response.json()) as { detail: string }).detail)),
      (error: unknown) => tell(String(error)),
    )
  }
  const timer = setTimeout(() => {
    if (!settle()) return
    call(operation, input)
      .then(refresh)
      .catch((error: unknown) => tell(error instanceof Error ? error.message : String(error)))
  }, UNDO_MS)
  const dismiss = toast(`Deleting ${name}`, 'ok', { text: 'Undo', run: () => void settle() }, UNDO_MS)
  pending.add(sendNow)
}

export function deleteItem(item: Pick<Item, 'id' | 'name'>, onGone: () => void): void {
  deleteLater({ operation: 'items.delete', input: { item_id: item.id }, name: item.name, touches: ['items', 'collections', 'projects'] })
  onGone()
}
