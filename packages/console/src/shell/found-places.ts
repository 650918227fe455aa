/** Places of the gazetteer, as they are typed. */
import { useEffect, useState } from 'react'
import { searchPlaces, type FoundPlace } from '../api/places.ts'

export type { FoundPlace }

const MIN_LETTERS = 2
const countries = new Intl.DisplayNames('en', { type: 'region' })

/** What tells a place from others with its name. */
export const searchText = ({ name, match, region, country }: FoundPlace): string =>
  [...(match === null ? [] : [name]), region, countryName(country)].filter(Boolean).join(', ')

function countryName(code: string): string {
  try {
    return countries.of(code) ?? code
  } catch {
    return code
  }
}

/** None if the service cannot be reached: the rest of the palette works without them. */
export function useFoundPlaces(text: string): readonly FoundPlace[] {
  const [found, setFound] = useState<readonly FoundPlace[]>([])
  const query = text.trim()
  useEffect(() => {
    if (query.length < MIN_LETTERS) return setFound([])
    const stop = new AbortController()
    searchPlaces(query, stop.signal)
      .then(setFound)
      .catch(() => undefined)
    return () => stop.abort()
  }, [query])
  return found
}
