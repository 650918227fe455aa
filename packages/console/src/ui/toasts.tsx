/** Short words about what just happened; read out, gone by themselves. */
import { useSyncExternalStore, type ReactElement } from 'react'
import { Icon } from './icons.tsx'

interface Toast {
  id: number
  text: string
  tone: 'ok' | 'bad'
  action?: { text: string; run(): void }
}

const SHOWN_MS = 5_000
const MAX_SHOWN = 4
const listeners = new Set<() => void>()
let toasts: readonly Toast[] = []
let nextId = 1

function publish(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

const dismiss = (id: number) => publish(toasts.filter((one) => one.id !== id))

export function toast(text: string, tone: 'ok' | 'bad' = 'ok', action?: Toast['action'], shownMs = SHOWN_MS): () => void {
  const id = nextId++
  publish([...toasts, { id, text, tone, action }].slice(-MAX_SHOWN))
  setTimeout(() => dismiss(id), shownMs)
  return () => dismiss(id)
}

export function Toasts(): ReactElement {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, tone, action }) => (
        <div key={id} className={`toast ${tone}`}>
          <Icon name={tone === 'ok' ? 'check' : 'warn'} />
          <span className="grow">{text}</span>
          {action && (
            <button
              type="button"
              className="btn s"
              onClick={() => {
                action.run()
                dismiss(id)
              }}
            >
              {action.text}
            </button>
          )}
        </div>
      ))}
    </div>
  )
}
