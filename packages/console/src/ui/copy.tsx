import type { ReactElement } from 'react'
import { Button } from './button.tsx'
import { toast } from './toasts.tsx'

export async function copyText(text: string, what = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast(what)
  } catch {
    toast('Your browser blocked copying. Select the text and copy it.', 'bad')
  }
}

export function CopyButton({
  text,
  label = 'Copy',
  variant,
  size = 's',
}: {
  text: string
  label?: string
  variant?: 'primary' | 'quiet'
  size?: 's' | 'm'
}): ReactElement {
  return (
    <Button icon="copy" size={size} variant={variant} onClick={() => void copyText(text)}>
      {label}
    </Button>
  )
}
