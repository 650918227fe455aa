import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

export type UrlPatch = Readonly<Record<string, string | null | undefined>>

/** The state of a screen is its address. A patch with null takes a parameter away. */
export function useUrl(): [Readonly<Record<string, string>>, (patch: UrlPatch, push?: boolean) => void] {
  const search = useSearch({ strict: false }) as Record<string, string>
  const navigate = useNavigate()
  const set = useCallback(
    (patch: UrlPatch, push = false) => {
      void navigate({
        to: '.',
        replace: !push,
        search: ((previous: Record<string, unknown>) => ({ ...previous, ...patch })) as never,
      })
    },
    [navigate],
  )
  return [search, set]
}
