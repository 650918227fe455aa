import { Link, type ErrorComponentProps } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { Empty, Failed } from '../ui/states.tsx'
import { useTakeOver } from './first.ts'

export function Lost(): ReactElement {
  useTakeOver()
  return (
    <Empty icon="globe" title="Page not found" actions={<Link to="/explore">Go to the map</Link>}>
      Check the URL, or go back to the map.
    </Empty>
  )
}

export function Broken({ error, reset }: ErrorComponentProps): ReactElement {
  useTakeOver()
  return <Failed error={error} retry={reset} />
}
