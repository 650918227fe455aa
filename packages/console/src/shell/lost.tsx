import type { ErrorComponentProps } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { useTitle } from '../state/crumbs.ts'
import { Failed } from '../ui/states.tsx'
import { useTakeOver } from './first.ts'
import ui from '../ui/ui.module.css'

/** A screen inside the frame. */
export function BrokenScreen({ error, reset }: ErrorComponentProps): ReactElement {
  useTitle('Page not loaded')
  return (
    <>
      <h1 className={ui.screenReaderOnly}>Page not loaded</h1>
      <Failed error={error} retry={reset} />
    </>
  )
}

export function Broken({ error, reset }: ErrorComponentProps): ReactElement {
  useTakeOver()
  return <Failed error={error} retry={reset} />
}
