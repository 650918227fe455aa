import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { CatalogSource } from '../../api/contract.ts'
import { canShowRealImagery } from '../../parts/places/open-sources.ts'
import type { UrlPatch } from '../../state/url.ts'
import { sceneOf } from './real-place.ts'
import { catalogQuery } from './use-scenes.ts'

export interface RealPlace {
  /** Whether the form is offered: an open host responds. */
  isOffered: boolean
  /** The place that is searched for. */
  searching: string | null
  /** Why nothing is shown. */
  problem: string | null
}

/** Replaces a place in the address by its newest clear scene, selected and in true colour. */
export function useRealPlace(
  text: string | undefined,
  sources: readonly CatalogSource[] | undefined,
  setUrl: (patch: UrlPatch) => void,
): RealPlace {
  const client = useQueryClient()
  const open = sources?.filter(canShowRealImagery) ?? []
  const query = useQuery({
    queryKey: ['real-place', text, open.map(({ host_name }) => host_name)],
    queryFn: async () => {
      const { findPlace } = await import('../../parts/places/place.ts')
      const place = findPlace(text ?? '')
      if (!place) return { problem: `The city '${text}' is not in the list. Enter its latitude and longitude, such as 38.72, -9.14.` }
      return await sceneOf(place, { sources: open, search: (input) => client.fetchQuery(catalogQuery(input)), now: new Date() })
    },
    enabled: text !== undefined && sources !== undefined,
    retry: false,
  })
  const found = text !== undefined && query.data && 'url' in query.data ? query.data.url : null
  useEffect(() => {
    if (found) setUrl(found)
  }, [found, setUrl])
  return {
    isOffered: open.length > 0,
    searching: text !== undefined && (query.isPending || found !== null) ? text : null,
    problem: text === undefined ? null : query.data && 'problem' in query.data ? query.data.problem : (query.error?.message ?? null),
  }
}
