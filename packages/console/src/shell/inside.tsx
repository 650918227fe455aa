/** Behind the sign-in: the frame, and the kit that its menus and dialogs are made of. The sign-in page needs neither. */
import { createTheme, MantineProvider } from '@mantine/core'
import type { ReactElement } from 'react'
import { Gate } from './gate.tsx'
import { Shell } from './shell.tsx'

/** Its variables are mapped onto our tokens by a file, because the policy allows no style element. */
const theme = createTheme({ fontFamily: 'var(--sans)', cursorType: 'pointer' })

export function Inside(): ReactElement {
  return (
    <MantineProvider theme={theme} withCssVariables={false} withGlobalClasses={false} withStaticClasses deduplicateCssVariables={false}>
      <Gate>
        <Shell />
      </Gate>
    </MantineProvider>
  )
}
