import { useEffect, useState } from 'react'
import { sharedMap } from './shared-map.ts'

export interface TileState {
  isLoading: boolean
  /** Why a tile could not be rendered, in the words of the service. */
  failure: string | null
}

/** What events of the map library have about a source; its types leave this out. */
interface SourceEvent {
  sourceId?: string
  error?: Error & { body?: Blob }
}

const UNKNOWN = 'A tile could not be loaded.'

/** The state of a layer's tiles since `tiles` was shown. A layer with a failed tile keeps those that were rendered. */
export function useTileState(id: string, tiles: string | null): TileState {
  const [state, setState] = useState<TileState>({ isLoading: false, failure: null })
  useEffect(() => {
    setState({ isLoading: tiles !== null, failure: null })
    if (tiles === null) return
    const { map } = sharedMap()
    let isGone = false
    const change = (patch: Partial<TileState>) => {
      if (!isGone) setState((state) => ({ ...state, ...patch }))
    }
    const onLoading = (event: object) => (event as SourceEvent).sourceId === id && change({ isLoading: true })
    const onIdle = () => change({ isLoading: false })
    // Before the map is idle, which waits for the base map too.
    const onLoaded = (event: object) => (event as SourceEvent).sourceId === id && map.isSourceLoaded(id) && change({ isLoading: false })
    const onError = (event: object) => {
      const { sourceId, error } = event as SourceEvent
      if (sourceId === id) void detailOf(error).then((failure) => change({ failure }))
    }
    map.on('dataloading', onLoading)
    map.on('sourcedata', onLoaded)
    map.on('idle', onIdle)
    map.on('error', onError)
    return () => {
      isGone = true
      map.off('dataloading', onLoading)
      map.off('sourcedata', onLoaded)
      map.off('idle', onIdle)
      map.off('error', onError)
    }
  }, [id, tiles])
  return state
}

/** The service says which asset failed and what to do; a network failure has no such text. */
async function detailOf(error: SourceEvent['error']): Promise<string> {
  try {
    const { detail, errors } = JSON.parse((await error?.body?.text()) ?? '') as { detail?: unknown; errors?: { message?: unknown }[] }
    const text = errors?.[0]?.message ?? detail // Without the name of a field, which is not on this screen.
    return typeof text === 'string' ? text : UNKNOWN
  } catch {
    return UNKNOWN
  }
}
