/** Dialogs and sheets: focus goes in, stays, and comes back to who opened them. */
import { Modal } from '@mantine/core'
import type { ReactElement, ReactNode } from 'react'

interface DialogParts {
  title: ReactNode
  onClose(): void
  children: ReactNode
  size?: number
}

export function Dialog({ title, onClose, children, size = 500 }: DialogParts): ReactElement {
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={size}
      lockScroll={false}
      transitionProps={{ duration: 120 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
      centered
    >
      {children}
    </Modal>
  )
}
