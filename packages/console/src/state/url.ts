import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

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
        search: (previous: Url) => withPatch(previous, patch),
      })
    },
    [navigate],
  )
  return [search, set]
}

function withPatch(url: Url, patch: UrlPatch): Url {
  const entries = Object.entries({ ...url, ...patch }).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(entries)
}
