/** J and K move through the rows of a focused list; other keys act on the row. */
import type { KeyboardEvent } from 'react'
import { isTyping } from '../ui/keys.ts'

export function useListKeys(acts: Readonly<Record<string, (id: string) => unknown>>) {
  return {
    onKeyDown(event: KeyboardEvent<HTMLElement>): void {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.nativeEvent)) return
      const row = (event.target as HTMLElement).closest<HTMLElement>('[data-id]')
      if (!row) return
      const next = event.key === 'j' ? row.nextElementSibling : event.key === 'k' ? row.previousElementSibling : null
      if (next instanceof HTMLElement) next.focus()
      const act = acts[event.key === 'Enter' && event.target !== row ? '' : event.key]
      if (act) {
        event.preventDefault()
        event.stopPropagation()
        act(row.dataset['id']!)
      }
    },
  }
}
