/** Short words about what just happened; read out, gone by themselves. */
import type { ReactElement } from 'react'
import { createPortal } from 'react-dom'
import { createStore } from '../store.ts'
import { Icon } from './icons.tsx'
import { openDialogs } from './open-dialogs.ts'
import { classes } from './classes.ts'
import buttonStyles from './button.module.css'
import styles from './toasts.module.css'
import ui from './ui.module.css'

interface Toast {
  id: number
  text: string
  tone: 'ok' | 'bad'
  action?: { text: string; run(): void }
}

const SHOWN_MS = 5_000
const MAX_SHOWN = 4
const toasts = createStore<readonly Toast[]>([])
let nextId = 1

const dismiss = (id: number) => toasts.set(toasts.get().filter((toast) => toast.id !== id))

export function toast(text: string, tone: 'ok' | 'bad' = 'ok', action?: Toast['action'], shownMs = SHOWN_MS): () => void {
  const id = nextId++
  toasts.set([...toasts.get(), { id, text, tone, action }].slice(-MAX_SHOWN))
  setTimeout(() => dismiss(id), shownMs)
  return () => dismiss(id)
}

/** Inside the topmost dialog if one is open, because the rest of the page is inert then. */
export function Toasts(): ReactElement {
  const dialog = openDialogs.use().at(-1)
  return dialog ? createPortal(<ToastList />, dialog) : <ToastList />
}

function ToastList(): ReactElement {
  const shown = toasts.use()
  return (
    <div className={styles.toasts} role="status" aria-live="polite">
      {shown.map(({ id, text, tone, action }) => (
        <div key={id} className={classes(styles.toast, tone === 'ok' ? styles.success : styles.danger)}>
          <Icon name={tone === 'ok' ? 'check' : 'warn'} />
          <span className={ui.grow}>{text}</span>
          {action && (
            <button
              type="button"
              className={classes(buttonStyles.button, buttonStyles.small)}
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
