import './styles/index.css'
import { createTheme, MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queries } from './api/query.ts'
import { resume } from './api/session.ts'
import { router } from './router.tsx'
import { Toasts } from './ui/toasts.tsx'

/** Its variables are mapped onto our tokens by a file, because the policy allows no style element. */
const theme = createTheme({ fontFamily: 'var(--sans)', cursorType: 'pointer' })

// A new build has other chunk names: a tab from before it asks for ones that are gone.
addEventListener('vite:preloadError', () => location.reload())

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} withCssVariables={false} withGlobalClasses={false} withStaticClasses deduplicateCssVariables={false}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
        <Toasts />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)

void resume()
