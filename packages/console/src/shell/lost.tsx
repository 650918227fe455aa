import { Link, type ErrorComponentProps } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { Empty, Failed } from '../ui/states.tsx'

export const Lost = (): ReactElement => (
  <Empty icon="globe" title="There is no such screen" actions={<Link to="/explore">Go to the map</Link>}>
    The address may be mistyped, or from a newer version.
  </Empty>
)

export const Broken = ({ error, reset }: ErrorComponentProps): ReactElement => <Failed error={error} retry={reset} />
