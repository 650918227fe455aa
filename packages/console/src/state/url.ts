import { useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { isClosingPanel, setClosingPanel } from '../ui/closing-panel.ts'

const useAnySearch = () => useSearch({ strict: false })

/** Search parameters of all screens: each is text. */
type Url = Readonly<ReturnType<typeof useAnySearch>>
export type UrlPatch = { readonly [name in keyof Url]?: string | null | undefined }

/** The state of a screen is in its address. Null in a patch removes a parameter. */
export function useUrl(): [Url, (patch: UrlPatch, push?: boolean) => void] {
  const search = useAnySearch()
  const navigate = useNavigate()
  const set = useCallback(
    (patch: UrlPatch, push = false) => {
      void navigate({
        to: '.',
        replace: !push,
        state: push ? {} : true, // An entry that is only changed still knows whether it opened a panel.
        search: (previous: Url) => withPatch(previous, patch),
      })
    },
    [navigate],
  )
  return [search, set]
}

/** The search parameter of a panel that an entry of the history opened. */
declare module '@tanstack/react-router' {
  interface HistoryState {
    openedPanel?: string
  }
}

interface Panel {
  /** From panel to panel, for example from scene to scene, each is an entry of the history. */
  open(value: string): void
  close(): void
}

/**
 * A panel whose content is in the address. Opening it adds an entry to the history, and closing it removes that entry, so that the
 * browser's Back does not open it again. A panel that was opened by a link has no entry of its own.
 */
export function usePanel(name: keyof Url & string): Panel {
  const [url, setUrl] = useUrl()
  const { history } = useRouter()
  const navigate = useNavigate()
  const isOpen = url[name] !== undefined
  const open = useCallback(
    (value: string) =>
      void navigate({
        to: '.',
        state: isOpen ? {} : { openedPanel: name },
        search: (previous: Url) => withPatch(previous, { [name]: value }),
      }),
    [navigate, name, isOpen],
  )
  const close = useCallback(() => {
    if (isClosingPanel()) return
    if (history.location.state.openedPanel !== name) return setUrl({ [name]: null })
    // Filters and camera may have changed since the panel was opened; only the panel goes.
    const rest = withPatch(Object.fromEntries(new URLSearchParams(location.search)), { [name]: null })
    setClosingPanel(true)
    const onBack = () => void navigate({ to: '.', replace: true, state: true, search: rest }).finally(() => setClosingPanel(false))
    addEventListener('popstate', onBack, { once: true })
    history.back()
  }, [history, navigate, name, setUrl])
  return { open, close }
}

function withPatch(url: Url, patch: UrlPatch): Url {
  const entries = Object.entries({ ...url, ...patch }).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(entries)
}
