/** Modal dialogs: the browser keeps the focus inside, makes the rest of the page inert and returns the focus to the opener. */
import { useEffect, useId, useLayoutEffect, useRef, type DialogHTMLAttributes, type ReactElement, type ReactNode } from 'react'
import { createPortal } from 'react-dom'
import { Button } from './button.tsx'
import { classes } from './classes.ts'
import styles from './dialog.module.css'
import { openDialogs } from './open-dialogs.ts'

interface ModalParts extends Omit<DialogHTMLAttributes<HTMLDialogElement>, 'onClose'> {
  onClose(): void
}

/** A dialog without a frame. It is open while it is mounted; Esc and a click beside it call `onClose`. */
export function Modal({ onClose, className, children, ...rest }: ModalParts): ReactElement {
  const element = useRef<HTMLDialogElement>(null)
  const isPressedBeside = useRef(false)
  const latest = useRef(onClose)
  useEffect(() => {
    latest.current = onClose
  })
  useLayoutEffect(() => {
    const dialog = element.current!
    // A browser closes a dialog on a second Esc whatever the page wants.
    const onForcedClose = () => latest.current()
    dialog.addEventListener('close', onForcedClose)
    dialog.showModal()
    dialog.querySelector<HTMLElement>('[data-autofocus]')?.focus()
    openDialogs.set([...openDialogs.get(), dialog])
    return () => {
      openDialogs.set(openDialogs.get().filter((open) => open !== dialog))
      dialog.removeEventListener('close', onForcedClose)
      // Removing an open dialog does not return the focus; closing it does.
      dialog.close()
    }
  }, [])
  return createPortal(
    <dialog
      {...rest}
      ref={element}
      className={classes(styles.modal, className)}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        onClose()
      }}
      onMouseDown={(event) => {
        isPressedBeside.current = event.target === event.currentTarget
      }}
      // Only a click that began beside it: marking text inside may end there. Not on the press, after which the browser moves the focus.
      onClick={(event) => event.target === event.currentTarget && isPressedBeside.current && onClose()}
    >
      {children}
    </dialog>,
    document.body,
  )
}

interface DialogParts {
  title: ReactNode
  onClose(): void
  children: ReactNode
  /** Width in pixels. */
  size?: number
}

export function Dialog({ title, onClose, children, size = 500 }: DialogParts): ReactElement {
  const id = useId()
  return (
    <Modal className={styles.dialog} onClose={onClose} aria-labelledby={id} style={{ '--dialog-width': `${size}px` }}>
      <div className={styles.content}>
        <header className={styles.header}>
          <h2 id={id} className={styles.title}>
            {title}
          </h2>
          <Button size="s" variant="quiet" icon="x" label="Close" onClick={onClose} />
        </header>
        <div className={styles.body}>{children}</div>
      </div>
    </Modal>
  )
}
