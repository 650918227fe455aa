/** Behind the sign-in: the frame. The sign-in page does not need it. */
import type { ReactElement } from 'react'
import { Gate } from './gate.tsx'
import { Shell } from './shell.tsx'

export function Inside(): ReactElement {
  return (
    <Gate>
      <Shell />
    </Gate>
  )
}
