/**
 * Deletions that can be taken back for a moment. The call is sent when that moment has passed, or when the page is left or hidden,
 * whichever comes first: a browser may end a hidden page without another word.
 */
import { toast } from '../ui/toasts.tsx'
import type { Input, Item, OperationId } from '../api/contract.ts'
import { call } from '../api/client.ts'
import { queries, touch } from '../api/query.ts'
import { recordingFetch } from '../api/recorder.ts'
import { currentToken, freshToken, onSessionEnd } from '../api/session.ts'

const UNDO_MS = 10_000

interface Deletion<K extends OperationId> {
  operation: K
  input: Input<K>
  /** What the person calls it. */
  name: string
  /** Domains whose lists are read again. */
  touches: readonly string[]
}

/** What each waiting deletion does when there is no more time for it. */
const waiting = new Set<() => void>()

function flush(): void {
  for (const send of waiting) send()
}
addEventListener('pagehide', flush)
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') flush()
})
onSessionEnd(() => waiting.clear())

export function deleteLater<K extends OperationId>({ operation, input, name, touches }: Deletion<K>): void {
  // Renewed now if it is about to end: the last call of a page cannot wait for a renewal.
  void freshToken().catch(() => undefined)
  const settle = () => {
    clearTimeout(timer)
    dismiss()
    return waiting.delete(last)
  }
  const refresh = () => void touch(queries, touches)
  const tell = (reason: string) => void toast(`${name} was not deleted: ${reason}`, 'bad')
  /** A call that outlives its page. */
  const last = () => {
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
  const dismiss = toast(`${name} is being deleted`, 'ok', { text: 'Undo', run: () => void settle() }, UNDO_MS)
  waiting.add(last)
}

export function deleteItem(item: Pick<Item, 'id' | 'name'>, onGone: () => void): void {
  deleteLater({ operation: 'items.delete', input: { item_id: item.id }, name: item.name, touches: ['items', 'collections', 'projects'] })
  onGone()
}
