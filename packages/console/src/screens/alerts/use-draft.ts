import { useEffect, useState } from 'react'
import { useUrl } from '../../state/url.ts'
import { fromAddress, toAddress, type Draft } from './draft.ts'

const TYPING_MS = 300

/** A draft that begins as `base` and is kept in the address. */
export function useDraft(base: Draft): [Draft, (patch: Partial<Draft>) => void] {
  const [url, setUrl] = useUrl()
  const [draft, setDraft] = useState(() => fromAddress(url, base))
  useEffect(() => {
    const timer = setTimeout(() => setUrl(toAddress(draft, base)), TYPING_MS)
    return () => clearTimeout(timer)
    // The base does not change while a rule is edited.
    // oxlint-disable-next-line exhaustive-deps
  }, [draft, setUrl])
  return [draft, (patch) => setDraft((before) => ({ ...before, ...patch }))]
}
