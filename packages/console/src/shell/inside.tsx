/** Behind the sign-in: the frame. The sign-in page does not need it. */
import type { ReactElement } from 'react'
import { useMe } from '../api/query.ts'
import { setFormats } from '../ui/format.ts'
import { Gate } from './gate.tsx'
import { Shell } from './shell.tsx'

export function Inside(): ReactElement {
  return (
    <Gate>
      <Formatted />
    </Gate>
  )
}

/** Everything is drawn anew when the user chooses another language or other units. */
function Formatted(): ReactElement {
  const { language = null, units = null } = useMe().data ?? {}
  setFormats({ language, units })
  return <Shell key={`${language} ${units}`} />
}
